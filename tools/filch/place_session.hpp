// The places that the program was started at: one, or as many as mpirun has started. All of them have the same command
// line and do the same; place 0 alone prints, and writes files.
#pragma once

#include <functional>
#include <memory>

#include <filch/places.hpp>

#include "task_farm.hpp"

namespace filch::cli {

class place_session {
 public:
  place_session() = default;
  virtual ~place_session() = default;
  place_session(const place_session&) = delete;
  place_session& operator=(const place_session&) = delete;

  [[nodiscard]] virtual int place() const = 0;
  [[nodiscard]] virtual int places() const = 0;

  /// Runs main at every place, set up like that; may be called again. All places call it in the same order.
  /// @throws std::invalid_argument for bad options. What main throws at one place of several ends all of them.
  virtual void run(const places::options& chosen, const std::function<void()>& main) = 0;

  /// Of the same processes; not while they run main.
  virtual bench::task_farm& farm() = 0;
};

/// For the rest of the program: once.
std::unique_ptr<place_session> open_place_session();

/// Whether the launcher of this process says that it has started another one before it, which does the same: its errors
/// are those of this one.
bool is_follower();

/// Runs that at place 0 only. @throws at all places when it throws there: at place 0 what it throws, at the others
/// std::invalid_argument.
void at_first_place(place_session& all, const std::function<void()>& what);

}  // namespace filch::cli
