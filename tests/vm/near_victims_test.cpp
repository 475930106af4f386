// Whom thieves of policies `standard` and `hierarchical` ask: those of their own socket first, and then everybody.
#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <filch/filch.hpp>
#include <filch/platform/work.hpp>
#include <filch/vm/simulation.hpp>

#include "worker/worker.hpp"

namespace filch::vm {
namespace {

constexpr std::uint32_t sockets = 4;
constexpr std::uint32_t workers = 32;

struct theft_count {
  std::uint64_t near = 0;
  std::uint64_t far = 0;
  std::array<bool, sockets> took_part{};

  [[nodiscard]] double near_share() const { return static_cast<double>(near) / static_cast<double>(near + far); }
};

/// With scattered workers eight neighbours are in each socket.
std::uint32_t socket_of(std::uint32_t worker) { return worker * sockets / workers; }

std::uint32_t here() { return detail::worker::of_this_thread()->number; }

/// Of the second branches of a tree those that another worker ran.
theft_count thefts_of(const std::string& policy) {
  theft_count found;
  simulation machine(load_machine("4x16", MACHINES_FOLDER), 1, workers);
  machine.run([&] {
    scheduler pool({.workers = static_cast<int>(workers), .policy = policy, .pinning = "scatter"});
    const auto tree = [&](const auto& self, int depth) -> void {
      found.took_part[socket_of(here())] = true;
      if (depth == 0) return platform::charge(2'000);
      const std::uint32_t owner = here();
      fork_join([&] { self(self, depth - 1); },
                [&] {
                  if (here() != owner) ++(socket_of(here()) == socket_of(owner) ? found.near : found.far);
                  self(self, depth - 1);
                });
    };
    pool.run([&] { tree(tree, 13); });
  });
  return found;
}

TEST(near_victims, are_asked_first) {
  // Of 31 others 7 are in the same socket.
  EXPECT_LT(thefts_of("lace").near_share(), 0.35);
  for (const char* const policy : {"hierarchical", "standard"}) {
    const theft_count near = thefts_of(policy);
    EXPECT_GT(near.near_share(), 0.6) << policy;
    for (const bool socket : near.took_part) EXPECT_TRUE(socket) << policy;
  }
}

}  // namespace
}  // namespace filch::vm
