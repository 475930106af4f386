// Places of one process, connected by its memory: for tests, and for explorations. A single place is one of these, too.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <filch/platform/memory.hpp>

#include "places/network.hpp"
#include "platform/thread.hpp"

namespace filch::detail::places {

/// What the places have in common. It lasts longer than they do.
class memory_hub {
 public:
  explicit memory_hub(int places);
  ~memory_hub();
  memory_hub(const memory_hub&) = delete;
  memory_hub& operator=(const memory_hub&) = delete;

  /// Where one place is connected; once for each.
  [[nodiscard]] std::unique_ptr<network> connect(int place);

 private:
  friend class memory_network;
  friend class memory_board;

  struct sent {
    message contents;
    receipt number;
  };
  /// What is on its way to a place, and what the place shows.
  struct alignas(64) end_point {
    platform::mutex mutex;
    std::vector<std::deque<sent>> from;  ///< by sender
    alignas(64) platform::atomic<std::int32_t> load{0};
    alignas(64) platform::atomic<std::uint32_t> lock{0};
    platform::atomic<std::int32_t> thief{load_board::nobody};
    std::vector<platform::atomic<receipt>> received;  ///< by sender: the last one
    explicit end_point(int places);
  };
  std::vector<std::unique_ptr<end_point>> ends_;
};

}  // namespace filch::detail::places
