// The record pools of a place: one for each worker, and one for whoever looks at the network.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "places/record_pool.hpp"

namespace filch::detail::places {

class record_pools {
 public:
  explicit record_pools(std::size_t workers) {
    for (std::size_t i = 0; i <= workers; ++i)
      pools_.push_back(std::make_unique<record_pool>(static_cast<std::uint32_t>(i)));
  }

  /// Number of the pool of whoever looks at the network.
  [[nodiscard]] std::size_t of_network() const noexcept { return pools_.size() - 1; }
  /// By the owner of that pool: a record with room for a closure of so many bytes. @throws std::bad_alloc.
  [[nodiscard]] task_record& get(std::size_t own, std::size_t room) { return pools_[own]->get(room); }
  /// The same owner gives a record back, of any pool.
  void put(task_record& r, std::size_t own) noexcept {
    if (r.pool == own) {
      pools_[own]->put(r);
    } else {
      pools_[r.pool]->give_back(r);
    }
  }

 private:
  std::vector<std::unique_ptr<record_pool>> pools_;
};

}  // namespace filch::detail::places
