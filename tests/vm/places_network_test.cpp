// Nodes of the many-core machine and the network between them. Times are expected as docs/simulation.md has them, worked
// out by hand from the figures of the machine below.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filch/filch.hpp>
#include <filch/platform/memory.hpp>
#include <filch/vm.hpp>
#include <filch/vm/simulation.hpp>

#include "places/virtual_network.hpp"
#include "platform/clock.hpp"
#include "platform/parker.hpp"
#include "platform/placement.hpp"
#include "platform/thread.hpp"
#include "vm/machine/many_core.hpp"

namespace filch::detail::places {
namespace {

using platform::vm::many_core;
using platform::vm::word;
using platform::vm::world;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using vm::charge;
using vm::load_machine;
using vm::machine_description;
using vm::node;
using vm::simulation;
using vm::touch;

constexpr double tiny_ns = 0.01;  // times are whole picoseconds

machine_description nodes_of_four() {
  machine_description m = load_machine("1x4", MACHINES_FOLDER);
  m.lines.hit_ns = 2;
  m.lines.atomic_extra_ns = 5;
  m.network = {.latency_ns = 1000,
               .ns_per_byte = 0.5,
               .send_overhead_ns = 200,
               .receive_overhead_ns = 300,
               .read_ns = 1500,
               .atomic_ns = 1700,
               .poll_ns = 40,
               .jitter = 0};
  return m;
}

double now_ns() { return vm::now_s() * 1e9; }
void at_ns(double time_ns) { charge(time_ns - now_ns()); }
world& here() { return *world::current(); }

double cost_ns(const std::function<void()>& operation) {
  const double begin_ns = now_ns();
  operation();
  return now_ns() - begin_ns;
}

/// Runs program i on node i.
void run_on_nodes(const std::vector<std::function<void()>>& programs,
                  const machine_description& machine = nodes_of_four(), std::uint64_t seed = 1) {
  simulation nodes(machine, seed, 4, static_cast<int>(programs.size()));
  nodes.run([&] { programs[static_cast<std::size_t>(node())](); });
}

std::vector<std::byte> bytes(std::size_t count) { return std::vector<std::byte>(count); }

/// Size of the next message, once it comes.
std::size_t wait_for_message() {
  for (;;) {
    if (const auto arrived = here().receive()) return arrived->bytes.size();
  }
}

TEST(places_network, messages_arrive_by_the_formula) {
  run_on_nodes({[] {
                  // Ready at 200, 400 and 600; they leave at 250, 405 and 600.
                  for (const std::size_t size : {100, 10, 0}) {
                    EXPECT_NEAR(cost_ns([&] { here().send(1, bytes(size), false); }), 200, tiny_ns);
                  }
                },
                [] {
                  at_ns(1240);
                  EXPECT_FALSE(here().receive().has_value());
                  EXPECT_NEAR(now_ns(), 1280, tiny_ns);
                  EXPECT_EQ(here().receive().value().bytes.size(), 100U);  // arrived at 1250
                  EXPECT_NEAR(now_ns(), 1580, tiny_ns);
                  EXPECT_EQ(here().receive().value().bytes.size(), 10U);  // at 1405
                  EXPECT_NEAR(now_ns(), 1880, tiny_ns);
                  EXPECT_EQ(here().receive().value().bytes.size(), 0U);  // at 1600
                  EXPECT_NEAR(now_ns(), 2180, tiny_ns);
                }});
}

TEST(places_network, a_message_waits_for_the_bytes_before_it) {
  run_on_nodes({[] {
                  here().send(1, bytes(10'000), false);  // leaves from 200 to 5200
                  here().send(2, bytes(2), false);       // until 5201
                },
                [] {
                  at_ns(6180);
                  EXPECT_EQ(wait_for_message(), 10'000U);  // looks at 6180, and at 6220
                  EXPECT_NEAR(now_ns(), 6520, tiny_ns);
                },
                [] {
                  at_ns(6150);
                  EXPECT_EQ(wait_for_message(), 2U);  // arrives at 6201: looks at 6150, 6190, 6230
                  EXPECT_NEAR(now_ns(), 6530, tiny_ns);
                }});
}

TEST(places_network, jitter_is_bounded_and_never_reorders_a_pair) {
  machine_description machine = nodes_of_four();
  machine.network->jitter = 0.8;
  machine.network->send_overhead_ns = 10;  // much less than the jitter
  constexpr int messages = 100;
  std::set<std::vector<int>> orders;
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<int> order;
    std::array<int, 4> next{};
    const auto sender = [] {
      for (int i = 0; i < messages; ++i) {
        std::vector<std::byte> number(1, static_cast<std::byte>(i));
        here().send(3, std::move(number), false);
      }
    };
    run_on_nodes({sender, sender, sender,
                  [&] {
                    while (order.size() < 3U * messages) {
                      const auto arrived = here().receive();
                      if (!arrived) continue;
                      const auto from = static_cast<std::size_t>(arrived->from);
                      EXPECT_EQ(arrived->bytes.front(), static_cast<std::byte>(next[from]++));
                      order.push_back(arrived->from);
                    }
                  }},
                 machine, seed);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3U) << "senders overtake each other, and the seed says when";

  for (int i = 0; i < 50; ++i) {
    run_on_nodes({[] { here().send(1, {}, false); },
                  [] {
                    wait_for_message();
                    // Leaves at 10. The look may be 40 late.
                    EXPECT_GE(now_ns(), 10 + 1000 + 300);
                    EXPECT_LE(now_ns(), 10 + 1800 + 300 + 40);
                  }},
                 machine, static_cast<std::uint64_t>(i));
  }
}

TEST(places_network, a_receipt_comes_a_latency_after_the_message_was_received) {
  run_on_nodes({[] {
                  const std::uint64_t lost = here().send(1, {}, true);
                  const std::uint64_t number = here().send(2, {}, true);
                  at_ns(6250);
                  EXPECT_FALSE(here().was_received(number));
                  EXPECT_NEAR(now_ns(), 6290, tiny_ns);
                  EXPECT_FALSE(here().was_received(number));
                  EXPECT_TRUE(here().was_received(number));  // at 6330: 5000 + 300 + 1000 is over
                  EXPECT_FALSE(here().was_received(lost));
                },
                [] {},
                [] {
                  at_ns(5000);
                  wait_for_message();
                }});
}

TEST(places_network, one_sided_operations_happen_half_way) {
  run_on_nodes({[] {
                  at_ns(200);
                  EXPECT_NEAR(cost_ns([] { EXPECT_EQ(here().load_at(1, 3), 0U); }), 1500, tiny_ns);  // at 950
                  at_ns(10'300);
                  EXPECT_NEAR(cost_ns([] { EXPECT_EQ(here().load_at(1, 3), 7U); }), 1500, tiny_ns);  // at 11050
                  at_ns(20'000);
                  EXPECT_NEAR(cost_ns([] { here().store_at(1, 3, 9); }), 200,
                              tiny_ns);  // there at 20000 + 200 + 4 + 1000
                },
                [] {
                  at_ns(990);
                  EXPECT_NEAR(cost_ns([] { here().store_at(1, 3, 5); }), 2, tiny_ns);
                  at_ns(11'000);
                  here().store_at(1, 3, 7);
                  at_ns(11'100);
                  EXPECT_NEAR(cost_ns([] { EXPECT_EQ(here().load_at(1, 3), 7U); }), 2, tiny_ns);
                  at_ns(21'203);
                  EXPECT_EQ(here().load_at(1, 3), 7U);
                  at_ns(21'206);
                  EXPECT_EQ(here().load_at(1, 3), 9U);
                }});
}

TEST(places_network, one_of_two_that_compare_and_swap_succeeds) {
  const auto first = [] {
    at_ns(1000);
    EXPECT_NEAR(cost_ns([] { EXPECT_EQ(here().compare_exchange_at(2, 0, 0, 5), 0U); }), 1700, tiny_ns);
  };
  const auto second = [] {
    at_ns(1001);
    EXPECT_NEAR(cost_ns([] { EXPECT_EQ(here().compare_exchange_at(2, 0, 0, 6), 5U); }), 1700, tiny_ns);
    EXPECT_EQ(here().compare_exchange_at(2, 0, 5, 7), 5U);
    EXPECT_EQ(here().load_at(2, 0), 7U);
  };
  // The owner of the word does nothing, or has gone.
  run_on_nodes({first, second, [] {}});
  run_on_nodes({second, first, [] { charge(1e6); }});
}

TEST(places_network, is_a_network_of_places) {
  run_on_nodes({[] {
                  const auto network = connect_virtual_network();
                  EXPECT_EQ(network->place(), 0);
                  EXPECT_EQ(network->places(), 2);
                  message m{.kind = message_kind::tasks, .channel = 3, .finish = 4711, .contents = {}};
                  message_writer(m).add(std::uint64_t{0x1234'5678'9abc});
                  const receipt sent = network->send_with_receipt(1, std::move(m));
                  network->send(1, {.kind = message_kind::no_tasks, .contents = {}});
                  while (!network->has_arrived(sent)) {
                  }
                },
                [] {
                  const auto network = connect_virtual_network();
                  EXPECT_EQ(network->place(), 1);
                  message m{.kind = message_kind::steal, .finish = 1, .contents = bytes(3)};
                  while (!network->receive(m)) {
                  }
                  EXPECT_EQ(m.kind, message_kind::tasks);
                  EXPECT_EQ(m.channel, 3);
                  EXPECT_EQ(m.from, 0);
                  EXPECT_EQ(m.finish, 4711U);
                  message_reader reader(m);
                  EXPECT_EQ(reader.get<std::uint64_t>(), 0x1234'5678'9abcU);
                  EXPECT_TRUE(reader.is_at_end());
                  while (!network->receive(m)) {
                  }
                  EXPECT_EQ(m.kind, message_kind::no_tasks);
                  EXPECT_TRUE(m.contents.empty());
                }});
}

TEST(places_network, has_a_load_board) {
  const auto thief = [](int place, double time_ns, bool gets_lock) {
    return [=] {
      const auto network = connect_virtual_network();
      load_board& board = network->board();
      EXPECT_EQ(board.thief(), load_board::nobody);
      at_ns(time_ns);
      EXPECT_EQ(board.read(2), load_board::hunting);
      EXPECT_EQ(board.try_lock(2), gets_lock);
      if (!gets_lock) return;
      board.set_thief(2);
      board.unlock(2);
      at_ns(20'000 + place);
      EXPECT_EQ(board.read(2), 12);
    };
  };
  run_on_nodes({thief(0, 5100, false), thief(1, 5000, true), [] {
                  const auto network = connect_virtual_network();
                  load_board& board = network->board();
                  board.publish(load_board::hunting);
                  while (board.thief() == load_board::nobody) platform::pause();
                  EXPECT_EQ(board.thief(), 1);
                  board.clear_thief();
                  EXPECT_EQ(board.thief(), load_board::nobody);
                  at_ns(15'000);
                  EXPECT_EQ(board.try_lock(2), true) << "the thief has given the lock back";
                  board.publish(12);
                }});
}

// Nodes.

TEST(places_network, threads_stay_on_their_node_and_know_its_processors_only) {
  std::array<std::uint64_t, 3> seeds{};
  const auto program = [&] {
    const int own = node();
    seeds[static_cast<std::size_t>(own)] = platform::random_seed(0);
    EXPECT_EQ(here().processors(), 4);
    EXPECT_EQ(here().hardware().size(), 4U);
    EXPECT_EQ(platform::places_of_workers(6, platform::pinning::none)[5].groups[0], 1U);
    scheduler pool({.workers = 4, .policy = "chase_lev"});
    std::set<int> processors;
    int missing = 4;
    pool.run([&] {
      task_group everybody;
      for (int i = 0; i < 4; ++i) {
        everybody.run([&] {
          EXPECT_EQ(node(), own);
          processors.insert(many_core::current()->processor());
          --missing;
          while (missing > 0) charge(1000);
        });
      }
      everybody.wait();
    });
    EXPECT_THAT(processors, ElementsAre(0, 1, 2, 3));
  };
  run_on_nodes({program, program, program});
  EXPECT_EQ((std::set<std::uint64_t>{seeds.begin(), seeds.end()}.size()), 3U)
      << "no node repeats another one's chances";
}

int fib(int n) {
  charge(20);
  if (n < 2) return n;
  const auto [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

/// Seconds of fib on each node's scheduler of 4 workers.
std::vector<double> fib_on(std::size_t nodes) {
  std::vector<double> seconds(nodes);
  run_on_nodes(std::vector<std::function<void()>>(nodes, [&] {
    scheduler pool({.workers = 4, .policy = "lace"});
    pool.run([&] {
      charge(10'000);  // all are searching
      const double begin_s = vm::now_s();
      EXPECT_EQ(fib(18), 2584);
      seconds[static_cast<std::size_t>(node())] = vm::now_s() - begin_s;
    });
  }));
  return seconds;
}

TEST(places_network, nodes_do_not_slow_each_other_down) {
  const double alone = fib_on(1).front();
  EXPECT_GE(alone, 8361 * 20e-9 / 4);  // calls of 20 ns on 4 workers
  const std::vector<double> together = fib_on(5);
  EXPECT_EQ(together.front(), alone) << "the same chances, hence the same run";
  for (const double each : together) EXPECT_NEAR(each, alone, 0.1 * alone);
}

/// What is said when the programs run.
std::string complaint_about(const std::vector<std::function<void()>>& programs) {
  try {
    run_on_nodes(programs);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no complaint";
}

struct alignas(64) word_of_its_own {
  platform::atomic<std::uint64_t> value{0};
};

TEST(places_network, a_line_that_nodes_share_is_an_error_that_names_both) {
  word_of_its_own a;
  const auto write_a = [&] { a.value.store(1, std::memory_order_relaxed); };
  const auto read_a = [&] { static_cast<void>(a.value.load(std::memory_order_relaxed)); };
  const auto nothing = [] {};
  const auto later = [](const auto& program) {
    return [program] {
      at_ns(now_ns() + 1e6);
      program();
    };
  };
  const auto names = [](const char* places, const char* how) {
    return AllOf(StartsWith(std::string("filch: places ") + places + " share memory: "), HasSubstr(how),
                 HasSubstr("places_network_test.cpp:"), testing::Not(HasSubstr("\n")));
  };
  EXPECT_THAT(complaint_about({nothing, write_a, later(write_a)}), names("1 and 2", "place 2 writes"));
  EXPECT_THAT(complaint_about({later(write_a), nothing, nothing, read_a}), names("0 and 3", "place 0 writes"));
  // Nobody writes once two nodes know it.
  EXPECT_EQ(complaint_about({write_a, later(read_a), later(read_a)}), "no complaint");
  EXPECT_THAT(complaint_about({write_a, later(read_a), later(later(write_a))}), StartsWith("filch: places"));
  EXPECT_THAT(complaint_about({[&] {
                                 write_a();
                                 at_ns(2e6);
                                 write_a();
                               },
                               later(read_a)}),
              names("0 and 1", "place 0 writes"));

  platform::mutex one_for_all;
  const auto lock = [&] { one_for_all.lock(); };
  EXPECT_THAT(complaint_about({lock, lock}), StartsWith("filch: places 0 and 1 share memory: "));
}

TEST(places_network, data_that_nodes_share_is_an_error_too) {
  const auto data = std::make_unique<std::array<std::byte, 8192>>();
  const auto touch_at = [&](std::size_t first, std::size_t count, bool writes) {
    return [=, &data] { touch(data->data() + first, count, writes); };
  };
  EXPECT_EQ(complaint_about({touch_at(0, 64, true), touch_at(64, 64, true), touch_at(128, 8000, true)}),
            "no complaint");
  EXPECT_EQ(complaint_about({touch_at(0, 8192, false), touch_at(0, 8192, false)}), "no complaint");
  EXPECT_THAT(complaint_about({touch_at(0, 8192, false), touch_at(8000, 1, true)}),
              StartsWith("filch: places 0 and 1 share memory: place 1 writes to a line that place 0 has used"));
  EXPECT_THAT(complaint_about({touch_at(0, 100, true), touch_at(127, 1, true)}), StartsWith("filch: places 0 and 1"));
}

TEST(places_network, memory_that_one_node_has_freed_may_be_another_ones) {
  constexpr std::size_t size = 12'345;
  constexpr int most_tries = 200'000;  // allocators that look for mistakes do not give it out again so soon
  const void* freed = nullptr;
  const auto use = [&](std::byte* data) {
    const auto words = std::make_unique<word_of_its_own>();
    words->value.store(1, std::memory_order_relaxed);
    touch(data, size, true);
  };
  run_on_nodes({[&] {
                  const auto data = std::make_unique<std::byte[]>(size);
                  use(data.get());
                  freed = data.get();
                },
                [&] {
                  at_ns(1e6);
                  auto own = std::make_unique<std::byte[]>(size);
                  for (int i = 0; i < most_tries && own.get() != freed; ++i) {
                    own.reset();
                    own = std::make_unique<std::byte[]>(size);
                  }
                  EXPECT_EQ(own.get(), freed) << "else this test shows nothing";
                  use(own.get());
                }});
}

// What operator new says of what it gives out is what makes the difference.
TEST(places_network, memory_that_is_given_out_anew_is_nobodys) {
  struct block {
    word_of_its_own word;
    std::array<std::byte, 12'345> data;
  };
  const auto memory = std::make_unique<block>();
  const auto use = [&](bool is_new) {
    return [&, is_new] {
      if (vm::node() == 1) at_ns(1e6);
      if (is_new) vm::note_allocation(memory.get(), sizeof(block));
      memory->word.value.store(1, std::memory_order_relaxed);
      touch(memory->data.data(), memory->data.size(), true);
    };
  };
  EXPECT_EQ(complaint_about({use(true), use(true)}), "no complaint");
  EXPECT_THAT(complaint_about({use(true), use(false)}), StartsWith("filch: places 0 and 1 share memory: "));
}

TEST(places_network, an_exception_of_one_node_ends_all) {
  const auto wait = [] {
    platform::parker forever;
    for (;;) forever.park();
  };
  EXPECT_EQ(complaint_about({wait, [] { throw std::runtime_error("wanted"); }, wait}), "wanted");
  EXPECT_THAT(complaint_about({wait, [] { charge(1e6); }, wait}),
              StartsWith("filch: all virtual workers wait for each other"));
}

TEST(places_network, several_nodes_need_a_network) {
  machine_description machine = nodes_of_four();
  machine.network.reset();
  try {
    const simulation nodes(machine, 1, 4, 2);
    FAIL() << "no complaint";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(),
                 "filch: machine '1x4' has no network for 2 places; add the group \"network\" to its file, or use "
                 "another machine such as edison");
  }
  try {
    simulation alone(machine, 1, 4);
    alone.run([] { static_cast<void>(here().receive()); });
    FAIL() << "no complaint";
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), StartsWith("filch: machine '1x4' has no network; "));
  }
}

TEST(places_network, a_large_machine_starts_and_ends) {
  constexpr int nodes = 512;
  constexpr int workers = 24;
  std::vector<int> seen(nodes);
  simulation edison(load_machine("edison", MACHINES_FOLDER), 1, workers, nodes);
  edison.run([&] {
    scheduler pool({.workers = workers});
    pool.run([&] {
      parallel_for(0, 4 * workers, [](int) { charge(2000); });
      seen[static_cast<std::size_t>(node())] = workers;
    });
    // A ring of messages.
    const auto network = connect_virtual_network();
    network->send((node() + 1) % nodes, {.kind = message_kind::tree_up, .contents = {}});
    message m;
    while (!network->receive(m)) {
    }
    EXPECT_EQ(m.from, (node() + nodes - 1) % nodes);
  });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), workers), nodes);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  RecordProperty("memory_kib", std::to_string(used.ru_maxrss));
}

}  // namespace
}  // namespace filch::detail::places
