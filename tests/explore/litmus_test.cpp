// The explorer itself, tested: small programs whose outcomes under C++20 are known, each with those that it has to find
// and those that must never appear. With full search; where the bounds of that are too narrow for an outcome, the
// random walk has to find it.
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/platform/memory.hpp>

#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "platform/thread.hpp"
#include "vm/explorer/explorer.hpp"

namespace filch::platform::vm {
namespace {

using testing::Contains;
using testing::Not;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

using outcomes = std::set<std::string>;
using part = std::function<void()>;

/// Runs the parts side by side.
void in_parallel(std::initializer_list<part> parts) {
  std::vector<std::unique_ptr<thread>> threads;
  for (const part& p : parts) threads.push_back(std::make_unique<thread>(0, p));
  for (const auto& t : threads) t->join();
}

/// Runs something in a process of its own and returns what it says: a run that fails leaves behind what its threads had
/// on their stacks, which only the end of the process takes away.
std::string from_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = work();
    _exit(write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 512> piece{};
  for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) > 0;) {
    said.append(piece.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? said : "the child process has crashed";
}

outcomes explore_outcomes(const std::function<std::string()>& program) {
  outcomes found;
  explorer world;
  for (const char* const name : {"exhaustive", "random", "pct"}) {
    const auto choices = make_strategy(name, 1);
    for (int runs = 0; runs < 20'000 && choices->begin(); ++runs) {
      std::string outcome;
      const auto failed = world.run([&] { outcome = program(); }, *choices);
      found.insert(failed ? "failure: " + failed->what.substr(0, failed->what.find_first_of(":\n")) : outcome);
    }
  }
  return found;
}

std::string text(std::initializer_list<int> values) {
  std::string all;
  for (const int value : values) all += std::to_string(value);
  return all;
}

/// All outcomes that the strategies come across; "failure: ..." is one as well.
outcomes outcomes_of(const std::function<std::string()>& program) {
  std::istringstream lines(from_child([&] {
    std::string all;
    for (const std::string& outcome : explore_outcomes(program)) all += outcome + "\n";
    return all;
  }));
  outcomes found;
  for (std::string line; std::getline(lines, line);) found.insert(line);
  return found;
}

// `own_load`: by which each thread reads its own store before it looks at the other's, if it does.
outcomes store_buffering(std::memory_order store, std::memory_order load,
                         std::optional<std::memory_order> own_load = std::nullopt) {
  return outcomes_of([=] {
    atomic<int> x{0};
    atomic<int> y{0};
    int a = 0;
    int b = 0;
    const auto store_and_look = [=](atomic<int>& own, const atomic<int>& other, int& seen) {
      own.store(1, store);
      if (own_load) static_cast<void>(own.load(*own_load));
      seen = other.load(load);
    };
    in_parallel({[&] { store_and_look(x, y, a); }, [&] { store_and_look(y, x, b); }});
    return text({a, b});
  });
}

TEST(litmus, store_buffering) {
  EXPECT_EQ(store_buffering(seq_cst, seq_cst), (outcomes{"01", "10", "11"}));
  EXPECT_EQ(store_buffering(release, acquire), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(store_buffering(relaxed, relaxed), (outcomes{"00", "01", "10", "11"}));
  // One side alone is not enough.
  EXPECT_THAT(store_buffering(seq_cst, acquire), Contains("00"));
  EXPECT_THAT(store_buffering(release, seq_cst), Contains("00"));
}

TEST(litmus, reading_what_one_has_stored_is_no_fence) {
  // Seen on x86, which hands the thread its own store before anybody else (LWG 3941).
  EXPECT_THAT(store_buffering(relaxed, seq_cst, seq_cst), Contains("00"));
  EXPECT_THAT(store_buffering(release, seq_cst, seq_cst), Contains("00"));
  EXPECT_THAT(store_buffering(seq_cst, seq_cst, seq_cst), Not(Contains("00")));
}

outcomes message_passing(std::memory_order store, std::memory_order load) {
  return outcomes_of([=] {
    atomic<int> data{0};
    atomic<int> flag{0};
    int seen = 0;
    int value = 0;
    in_parallel({[&] {
                   data.store(1, relaxed);
                   flag.store(1, store);
                 },
                 [&] {
                   seen = flag.load(load);
                   value = data.load(relaxed);
                 }});
    return text({seen, value});
  });
}

TEST(litmus, message_passing) {
  EXPECT_EQ(message_passing(release, acquire), (outcomes{"00", "01", "11"}));
  EXPECT_EQ(message_passing(seq_cst, seq_cst), (outcomes{"00", "01", "11"}));
  EXPECT_EQ(message_passing(relaxed, acquire), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(message_passing(release, relaxed), (outcomes{"00", "01", "10", "11"}));
}

outcomes plain_message(std::memory_order store, std::memory_order load) {
  return outcomes_of([=] {
    shared<int> data(0);
    atomic<int> flag{0};
    int value = 7;
    in_parallel({[&] {
                   data.store(1);
                   flag.store(1, store);
                 },
                 [&] {
                   if (flag.load(load) == 1) value = data.load();
                 }});
    return text({value});
  });
}

TEST(litmus, plain_data_is_checked_for_races) {
  EXPECT_EQ(plain_message(release, acquire), (outcomes{"1", "7"}));
  EXPECT_THAT(plain_message(relaxed, acquire), Contains("failure: data race"));
  EXPECT_THAT(plain_message(release, relaxed), Contains("failure: data race"));
}

/// Two threads make a variable at the same place, one after the other, as the heap may give it to them.
template <class Variable>
outcomes memory_used_again() {
  return outcomes_of([] {
    alignas(Variable) std::array<std::byte, sizeof(Variable)> place;
    atomic<bool> is_free{true};
    const auto use = [&] {
      if (!is_free.exchange(false, relaxed)) return;
      auto* const made = ::new (static_cast<void*>(place.data())) Variable(1);
      made->store(made->load() + 1);
      std::destroy_at(made);
      is_free.store(true, relaxed);
    };
    in_parallel({use, use});
    return std::string("fine");
  });
}

TEST(litmus, what_was_in_the_memory_of_a_variable_before_is_no_race) {
  EXPECT_EQ(memory_used_again<shared<int>>(), (outcomes{"fine"}));
  EXPECT_EQ(memory_used_again<local<int>>(), (outcomes{"fine"}));
}

TEST(litmus, a_write_after_the_release_is_not_released) {
  EXPECT_THAT(outcomes_of([] {
                shared<int> data(0);
                atomic<int> flag{0};
                in_parallel({[&] {
                               flag.store(1, release);
                               data.store(1);
                             },
                             [&] {
                               if (flag.load(acquire) == 1) static_cast<void>(data.load());
                             }});
                return std::string("fine");
              }),
              Contains("failure: data race"));
}

TEST(litmus, release_sequences_go_through_read_modify_writes_and_not_through_stores) {
  const auto chain = [](bool by_store) {
    return outcomes_of([=] {
      atomic<int> data{0};
      atomic<int> flag{0};
      int value = 7;
      in_parallel({[&] {
                     data.store(1, relaxed);
                     flag.store(1, release);
                   },
                   [&] {
                     if (by_store) {
                       if (flag.load(relaxed) == 1) flag.store(2, relaxed);
                     } else {
                       int one = 1;
                       flag.compare_exchange_strong(one, 2, relaxed, relaxed);
                     }
                   },
                   [&] {
                     if (flag.load(acquire) == 2) value = data.load(relaxed);
                   }});
      return text({value});
    });
  };
  EXPECT_EQ(chain(false), (outcomes{"1", "7"}));
  EXPECT_EQ(chain(true), (outcomes{"0", "1", "7"}));
}

outcomes independent_reads(std::memory_order store, std::memory_order load) {
  return outcomes_of([=] {
    atomic<int> x{0};
    atomic<int> y{0};
    int a = 0;
    int b = 0;
    int c = 0;
    int d = 0;
    in_parallel({[&] { x.store(1, store); }, [&] { y.store(1, store); },
                 [&] {
                   a = x.load(load);
                   b = y.load(load);
                 },
                 [&] {
                   c = y.load(load);
                   d = x.load(load);
                 }});
    return text({a, b, c, d});
  });
}

TEST(litmus, independent_reads_of_independent_writes) {
  EXPECT_THAT(independent_reads(seq_cst, seq_cst), Not(Contains("1010")));
  EXPECT_THAT(independent_reads(release, acquire), Contains("1010"));
  EXPECT_THAT(independent_reads(seq_cst, acquire), Contains("1010"));
}

TEST(litmus, coherence) {
  const outcomes found = outcomes_of([] {
    atomic<int> x{0};
    int a = 0;
    int b = 0;
    in_parallel({[&] { x.store(1, relaxed); }, [&] { x.store(2, relaxed); },
                 [&] {
                   a = x.load(relaxed);
                   b = x.load(relaxed);
                 }});
    return text({a, b});
  });
  EXPECT_THAT(found, Not(Contains("10")));
  EXPECT_THAT(found, Not(Contains("20")));
  EXPECT_THAT(found, Contains("12"));
  EXPECT_THAT(found, Contains("21"));
  EXPECT_THAT(found, Contains("02"));
}

TEST(litmus, two_readers_agree_on_the_order_of_stores) {
  const outcomes found = outcomes_of([] {
    atomic<int> x{0};
    int a = 0;
    int b = 0;
    int c = 0;
    int d = 0;
    in_parallel({[&] { x.store(1, relaxed); }, [&] { x.store(2, relaxed); },
                 [&] {
                   a = x.load(relaxed);
                   b = x.load(relaxed);
                 },
                 [&] {
                   c = x.load(relaxed);
                   d = x.load(relaxed);
                 }});
    return text({a, b, c, d});
  });
  EXPECT_THAT(found, Not(Contains("1221")));
  EXPECT_THAT(found, Not(Contains("2112")));
  EXPECT_THAT(found, Contains("1212"));
}

TEST(litmus, what_was_read_happened_before_stays_read) {
  // Coherence across threads: after a read of the new value was released, nobody who acquired that reads the old one.
  const outcomes found = outcomes_of([] {
    atomic<int> x{0};
    atomic<int> flag{0};
    int a = 0;
    int value = 7;
    in_parallel({[&] { x.store(1, relaxed); },
                 [&] {
                   a = x.load(relaxed);
                   flag.store(1, release);
                 },
                 [&] {
                   if (flag.load(acquire) == 1) value = x.load(relaxed);
                 }});
    return text({a, value});
  });
  EXPECT_THAT(found, Not(Contains("10")));
  EXPECT_THAT(found, Contains("11"));
  EXPECT_THAT(found, Contains("00"));
}

outcomes two_plus_two_writes(std::memory_order order) {
  return outcomes_of([=] {
    atomic<int> x{0};
    atomic<int> y{0};
    in_parallel({[&] {
                   x.store(1, order);
                   y.store(2, order);
                 },
                 [&] {
                   y.store(1, order);
                   x.store(2, order);
                 }});
    return text({x.load(relaxed), y.load(relaxed)});
  });
}

TEST(litmus, two_plus_two_writes) {
  EXPECT_THAT(two_plus_two_writes(seq_cst), Not(Contains("11")));
  EXPECT_THAT(two_plus_two_writes(release), Contains("11"));
  EXPECT_THAT(two_plus_two_writes(relaxed), Contains("11"));
}

TEST(litmus, no_load_buffering) {
  const outcomes found = outcomes_of([] {
    atomic<int> x{0};
    atomic<int> y{0};
    int a = 0;
    int b = 0;
    in_parallel({[&] {
                   a = y.load(relaxed);
                   x.store(1, relaxed);
                 },
                 [&] {
                   b = x.load(relaxed);
                   y.store(1, relaxed);
                 }});
    return text({a, b});
  });
  EXPECT_EQ(found, (outcomes{"00", "01", "10"}));
}

outcomes publication(std::memory_order store, std::memory_order load) {
  return outcomes_of([=] {
    struct object {
      shared<int> plain{0};
      atomic<int> inside{0};
    };
    atomic<object*> published{nullptr};
    std::unique_ptr<object> owner;
    int value = 7;
    in_parallel({[&] {
                   owner = std::make_unique<object>();
                   owner->plain.store(3);
                   published.store(owner.get(), store);
                 },
                 [&] {
                   if (object* const o = published.load(load)) value = o->inside.load(relaxed) + o->plain.load();
                 }});
    return text({value});
  });
}

TEST(litmus, publication_without_fences) {
  EXPECT_EQ(publication(release, acquire), (outcomes{"3", "7"}));
  EXPECT_THAT(publication(relaxed, acquire), Contains("failure: an atomic object is used before its construction has "
                                                      "happened, in litmus_test.cpp"));
}

TEST(litmus, read_modify_writes_lose_nothing) {
  EXPECT_EQ(outcomes_of([] {
              atomic<int> x{0};
              const part add = [&] {
                x.fetch_add(1, relaxed);
                x.fetch_add(1, relaxed);
              };
              in_parallel({add, add, add});
              return text({x.load(relaxed)});
            }),
            outcomes{"6"});
}

TEST(litmus, of_two_compare_and_swaps_one_wins) {
  EXPECT_EQ(outcomes_of([] {
              atomic<int> x{0};
              int a = 0;
              int b = 0;
              in_parallel({[&] {
                             int zero = 0;
                             a = x.compare_exchange_strong(zero, 1, acq_rel, relaxed) ? 1 : 0;
                           },
                           [&] {
                             int zero = 0;
                             b = x.compare_exchange_strong(zero, 2, acq_rel, relaxed) ? 1 : 0;
                           }});
              return text({a, b});
            }),
            (outcomes{"01", "10"}));
}

TEST(litmus, a_failed_compare_and_swap_is_a_load) {
  const auto acquiring = [](std::memory_order failure) {
    return outcomes_of([=] {
      atomic<int> data{0};
      atomic<int> flag{0};
      int value = 7;
      in_parallel({[&] {
                     data.store(1, relaxed);
                     flag.store(1, release);
                   },
                   [&] {
                     int two = 2;
                     flag.compare_exchange_strong(two, 3, acq_rel, failure);
                     if (two == 1) value = data.load(relaxed);
                   }});
      return text({value});
    });
  };
  EXPECT_EQ(acquiring(acquire), (outcomes{"1", "7"}));
  EXPECT_EQ(acquiring(relaxed), (outcomes{"0", "1", "7"}));
}

TEST(litmus, a_weak_compare_and_swap_may_fail_for_nothing) {
  EXPECT_EQ(outcomes_of([] {
              atomic<int> x{0};
              int zero = 0;
              return text({x.compare_exchange_weak(zero, 1, relaxed, relaxed) ? 1 : 0, zero});
            }),
            (outcomes{"00", "10"}));
}

TEST(litmus, a_spin_loop_ends) {
  EXPECT_EQ(outcomes_of([] {
              atomic<int> flag{0};
              in_parallel({[&] {
                             while (flag.load(acquire) == 0) pause();
                           },
                           [&] { flag.store(1, release); }});
              return std::string("ended");
            }),
            outcomes{"ended"});
}

TEST(litmus, a_spin_loop_that_nobody_ends_is_a_failure) {
  EXPECT_EQ(outcomes_of([] {
              atomic<int> flag{0};
              while (flag.load(acquire) == 0) pause();
              return std::string("ended");
            }),
            outcomes{"failure: the threads that are awake wait for something that nobody is going to do"});
}

/// A sleeper says that it sleeps and looks once more; a waker sets the flag and looks whether somebody sleeps.
outcomes wake_up(std::memory_order order) {
  return outcomes_of([=] {
    atomic<int> flag{0};
    atomic<int> sleeping{0};
    parker p;
    in_parallel({[&] {
                   sleeping.store(1, order);
                   while (flag.load(order) == 0) p.park();
                 },
                 [&] {
                   flag.store(1, order);
                   if (sleeping.load(order) == 1) p.unpark();
                 }});
    return std::string("awake");
  });
}

TEST(litmus, lost_wake_up) {
  EXPECT_EQ(wake_up(seq_cst), outcomes{"awake"});
  EXPECT_THAT(wake_up(relaxed), Contains("failure: every thread waits for another one"));
}

TEST(litmus, mutexes_exclude_and_synchronise) {
  EXPECT_EQ(outcomes_of([] {
              mutex m;
              shared<int> count(0);
              const part add = [&] {
                m.lock();
                count.store(count.load() + 1);
                m.unlock();
              };
              in_parallel({add, add, add});
              return text({count.load()});
            }),
            outcomes{"3"});
}

TEST(litmus, a_deadlock_is_a_failure) {
  EXPECT_THAT(outcomes_of([] {
                mutex m;
                mutex n;
                in_parallel({[&] {
                               m.lock();
                               n.lock();
                               n.unlock();
                               m.unlock();
                             },
                             [&] {
                               n.lock();
                               m.lock();
                               m.unlock();
                               n.unlock();
                             }});
                return std::string("fine");
              }),
              Contains("failure: every thread waits for another one"));
}

// Nodes

int received(world& here) {
  while (true) {
    if (const auto come = here.receive()) return static_cast<int>(come->bytes.at(0));
    pause();
  }
}

void send_number(world& here, int to, int number) { here.send(to, {std::byte(number)}, false); }

TEST(network, messages_of_a_pair_arrive_in_order) {
  EXPECT_EQ(outcomes_of([] {
              std::string got;
              at_each_node(2, [&] {
                world& here = *world::current();
                if (here.node() == 0) {
                  for (int i = 1; i < 4; ++i) send_number(here, 1, i);
                } else {
                  for (int i = 1; i < 4; ++i) got += text({received(here)});
                }
              });
              return got;
            }),
            outcomes{"123"});
}

// The first message of node 0 may be overtaken by what its second one has caused.
TEST(network, messages_of_different_pairs_arrive_in_any_order) {
  EXPECT_EQ(outcomes_of([] {
              std::string got;
              at_each_node(3, [&] {
                world& here = *world::current();
                if (here.node() == 0) {
                  send_number(here, 2, 1);
                  send_number(here, 1, 2);
                } else if (here.node() == 1) {
                  send_number(here, 2, received(here));
                } else {
                  for (int i = 0; i < 2; ++i) got += text({received(here)});
                }
              });
              return got;
            }),
            (outcomes{"12", "21"}));
}

TEST(network, a_message_may_be_late) {
  EXPECT_EQ(outcomes_of([] {
              int got = 0;
              atomic<int> sent{0};
              at_each_node(2, [&] {
                world& here = *world::current();
                if (here.node() == 0) {
                  send_number(here, 1, 1);
                  sent.store(1, seq_cst);
                } else {
                  while (sent.load(seq_cst) == 0) pause();
                  if (here.receive()) got = 1;
                }
              });
              return text({got});
            }),
            (outcomes{"0", "1"}));
}

TEST(network, a_message_brings_what_its_sender_has_done) {
  const auto message_passing_after = [](bool message_first) {
    return outcomes_of([=] {
      shared<int> data(0);
      at_each_node(2, [&] {
        world& here = *world::current();
        if (here.node() == 0) {
          if (message_first) send_number(here, 1, 1);
          data.store(1);
          if (!message_first) send_number(here, 1, 1);
        } else {
          received(here);
          static_cast<void>(data.load());
        }
      });
      return text({1});
    });
  };
  EXPECT_EQ(message_passing_after(false), outcomes{"1"});
  EXPECT_THAT(message_passing_after(true), Contains("failure: data race"));
}

TEST(network, receipts_come_after_the_message_was_received) {
  EXPECT_EQ(outcomes_of([] {
              int received_first = 0;
              atomic<int> did{0};
              at_each_node(2, [&] {
                world& here = *world::current();
                if (here.node() == 0) {
                  const auto number = here.send(1, {std::byte{1}}, true);
                  while (!here.was_received(number)) pause();
                  received_first = did.load(seq_cst);
                } else {
                  did.store(1, seq_cst);
                  received(here);
                }
              });
              return text({received_first});
            }),
            outcomes{"1"});
}

// Which place has the lock, and what it says of itself: load, lock and thief of a load board.
TEST(network, words_of_a_node_are_in_order_for_each_that_stores) {
  const outcomes found = outcomes_of([] {
    int first = 0;
    int second = 0;
    at_each_node(2, [&] {
      world& here = *world::current();
      if (here.node() == 0) {
        here.store_at(1, 0, 1);
        here.store_at(1, 1, 1);
      } else {
        second = static_cast<int>(here.load_at(1, 1));
        first = static_cast<int>(here.load_at(1, 0));
      }
    });
    return text({first, second});
  });
  EXPECT_EQ(found, (outcomes{"00", "10", "11"}));
}

TEST(network, of_two_one_takes_the_lock_of_a_node) {
  EXPECT_EQ(outcomes_of([] {
              int taken = 0;
              at_each_node(2, [&] {
                if (world::current()->compare_exchange_at(0, 1, 0, 1) == 0) ++taken;
              });
              return text({taken});
            }),
            outcomes{"1"});
}

TEST(explorer, a_seed_repeats_its_run) {
  const std::function<void()> program = [] {
    atomic<int> x{0};
    atomic<int> y{0};
    int a = 0;
    int b = 0;
    in_parallel({[&] {
                   x.store(1, relaxed);
                   a = y.load(relaxed);
                 },
                 [&] {
                   y.store(1, relaxed);
                   b = x.load(relaxed);
                 }});
    check(a + b != 0, "both read the old value");
  };
  for (const std::string name : {"exhaustive", "random", "pct"}) {
    EXPECT_EQ(from_child([&]() -> std::string {
                explorer world;
                const auto choices = make_strategy(name, 5);
                std::optional<failure> failed;
                while (!failed && choices->begin()) failed = world.run(program, *choices);
                if (!failed) return "found nothing";
                const std::uint64_t digest = world.digest();
                const auto again = replay(failed->seed);
                if (!again->begin()) return "no replay";
                const auto failed_again = world.run(program, *again, true);
                if (!failed_again) return "the replay of " + failed->seed + " does not fail";
                if (failed_again->what != failed->what) return "the replay fails otherwise: " + failed_again->what;
                if (failed_again->seed != failed->seed) return "the replay has another seed: " + failed_again->seed;
                if (world.digest() != digest) return "the replay took other steps";
                if (failed_again->story.empty()) return "no story";
                if (again->begin()) return "a second replay";
                return "repeats";
              }),
              "repeats")
        << name;
  }
}

TEST(explorer, exceptions_in_flight_belong_to_their_thread) {
  EXPECT_EQ(outcomes_of([] {
              atomic<int> turn{0};
              int wrong = 0;
              const part thrower = [&] {
                try {
                  throw 1;
                } catch (int) {
                  turn.fetch_add(1, seq_cst);  // another thread may go on here
                  if (std::uncaught_exceptions() != 0) ++wrong;
                  try {
                    throw;
                  } catch (int again) {
                    if (again != 1) ++wrong;
                  }
                }
              };
              in_parallel({thrower, thrower});
              return text({wrong});
            }),
            outcomes{"0"});
}

TEST(explorer, bad_strategies_and_seeds_are_refused) {
  EXPECT_THROW(make_strategy("clever", 1), std::invalid_argument);
  EXPECT_THROW(replay("random:x"), std::invalid_argument);
  EXPECT_THROW(replay("clever:1"), std::invalid_argument);
  EXPECT_THROW(replay(""), std::invalid_argument);
}

}  // namespace
}  // namespace filch::platform::vm
