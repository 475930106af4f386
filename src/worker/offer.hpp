// A policy's part of a worker.
#pragma once

namespace filch::detail {

/// What a policy keeps for each worker: the tasks that thieves can see.
class offer {
 public:
  offer() = default;
  virtual ~offer() = default;
  offer(const offer&) = delete;
  offer& operator=(const offer&) = delete;
  /// Owner. It begins an activation, or a root.
  virtual void activation_begins() noexcept {}
  /// Owner. An activation of the worker has ended; none of its tasks is left.
  virtual void activation_ended() noexcept = 0;
};

}  // namespace filch::detail
