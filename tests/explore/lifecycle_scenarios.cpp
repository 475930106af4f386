#include <optional>

#include "scenario.hpp"

namespace filch::explore {
namespace {

void explore_start_stop(const options& chosen) {
  scheduler pool(chosen);
  static_cast<void>(pool.stats());
}

/// Two threads use one scheduler: one has the seat, the other is a guest.
void explore_guests(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  payload results[4];
  const auto use = [&](std::size_t first) {
    pool.run([&] {
      fork_join(
          [&] {
            ran.ran(first);
            results[first].store(1);
          },
          [&] {
            ran.ran(first + 1);
            results[first + 1].store(1);
          });
      check(results[first].load() == 1 && results[first + 1].load() == 1, "a result got lost");
    });
  };
  in_parallel({[&] { use(0); }, [&] { use(2); }});
  ran.check_all();
}

/// The seat passes from one thread to another.
void explore_seat(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  const auto use = [&](std::size_t first) {
    pool.run([&] { fork_join([&] { ran.ran(first); }, [&] { ran.ran(first + 1); }); });
  };
  platform::thread other(0, [&] { use(0); });
  other.join();
  use(2);
  ran.check_all();
}

/// One scheduler inside a task of another.
void explore_nested(const options& chosen) {
  scheduler pool(chosen);
  account ran(4);
  pool.run([&] {
    fork_join([&] { ran.ran(0); },
              [&] {
                scheduler inner(chosen);
                inner.run([&] { fork_join([&] { ran.ran(1); }, [&] { ran.ran(2); }); });
                ran.ran(3);
              });
  });
  ran.check_all();
}

/// A group on the heap outlives the scheduler that has its tasks, which make further ones.
void explore_queued_at_end(const options& chosen) {
  account ran(4);
  payload results[4];
  std::optional<task_group> group(std::in_place);
  {
    scheduler pool(chosen);
    pool.run([&] {
      for (std::size_t i = 0; i < 2; ++i) {
        group->run([&, i] {
          ran.ran(i);
          results[i].store(1);
          group->run([&, i] {
            ran.ran(2 + i);
            results[2 + i].store(1);
          });
        });
      }
    });
  }
  ran.check_all();
  check(group->wait() == group_status::complete, "a group is cancelled that nobody cancelled");
  for (const auto& result : results) check(result.load() == 1, "a result got lost");
}

}  // namespace

void add_lifecycle(scenario_list& to) {
  to.push_back(
      {"start_stop", "three workers, started and stopped", [] { explore_start_stop(small(3, "lace", "transitive")); }});
  to.push_back({"guests", "two threads at once", [] { explore_guests(small(2, "lace", "transitive")); }});
  to.push_back(
      {"guests_alone", "two threads and no other worker", [] { explore_guests(small(1, "chase_lev", "transitive")); }});
  to.push_back({"seat", "one thread after another", [] { explore_seat(small(2, "lace", "transitive")); }});
  to.push_back({"queued_at_end", "a scheduler that ends with tasks queued, no other worker",
                [] { explore_queued_at_end(small(1, "lace", "transitive")); }});
  to.push_back({"queued_at_end_two", "the same, two other workers",
                [] { explore_queued_at_end(small(3, "lace", "transitive")); }});
  to.push_back(
      {"nested", "a scheduler inside a task of another", [] { explore_nested(small(2, "lace", "transitive")); }});
}

}  // namespace filch::explore
