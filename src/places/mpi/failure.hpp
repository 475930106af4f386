// How a job ends that cannot go on: with one line that names the place, and all places with it.
#pragma once

#include <chrono>
#include <string>

namespace filch::detail::places {

/// Writes the line, and a line feed, in one piece, so that lines of several places do not mix, and waits until it has
/// been read, half a second at most.
void say(std::string line) noexcept;

/// What places that know the same wait, so that one of them says it.
inline constexpr std::chrono::seconds time_for_the_line{1};

/// Ends all places, with the line "filch: place N" and the reason. The status is 1 if the one given is 0.
[[noreturn]] void abort_job(int place, const std::string& reason, int status = 1);

/// From its construction to its destruction, a program that exits ends the job. One at a time.
class exit_watch {
 public:
  explicit exit_watch(int place);
  ~exit_watch();
  exit_watch(const exit_watch&) = delete;
  exit_watch& operator=(const exit_watch&) = delete;
};

}  // namespace filch::detail::places
