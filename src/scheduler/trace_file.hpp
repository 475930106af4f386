// What was recorded of schedulers, and the file that it is written to: Chrome's trace event format, which Perfetto reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <filch/config.hpp>

#include "platform/trace_log.hpp"

namespace filch::detail {

class scheduler_core;
class team;

struct recorded_event {
  platform::trace_event what;
  std::uint32_t worker;
};

/// What was recorded of one scheduler.
struct recorded_team {
  std::uint32_t workers = 0;  ///< others are guests
  std::string policy;
  std::vector<recorded_event> events;
};

/// The file that a variable of the environment names; null: none, or nothing can be recorded here, or this is a child
/// process, and the file is its parent's.
const char* recording_path(const char* variable) noexcept;
/// This process is one of several places, with that number, and has files of its own.
FILCH_API void name_files_of_place(int number) noexcept;
/// The name of this process's file: at place 2 trace.2.json for trace.json; where there is one place, as it is. In the folder
/// that the program was in when it began: it may go to another one before it uses filch.
std::string name_of_file(const std::string& named);
/// From now on the files are those of this process: for children no variable names one.
void keep_files_from_children();
/// `write` is called when this process exits, and not when its children do.
void write_at_exit(void (*write)());
/// As a text of JSON. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
/// The path as it is called from every folder: the program may go to another one before it writes the file. Throws
/// std::invalid_argument, with `where` the path was said, when the file cannot be written.
std::string writable_path(std::string path, const std::string& where);
/// Throws std::runtime_error when it cannot be written.
void write_trace(const std::string& path, const std::vector<recorded_team>& all);

/// A scheduler's part of the recording that FILCH_TRACE asks for: of all schedulers of the process, written when it
/// exits. If that is not set, nothing happens: schedulers share nothing by it.
class process_trace {
 public:
  /// Throws as writable_path.
  explicit process_trace(scheduler_core& of);
  process_trace(const process_trace&) = delete;
  process_trace& operator=(const process_trace&) = delete;
  /// What was recorded of the scheduler is kept.
  ~process_trace();

  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }

 private:
  scheduler_core& of_;
  const bool is_wanted_;
};

}  // namespace filch::detail
