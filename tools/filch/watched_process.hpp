// A running process that uses filch, looked at from outside: its schedulers, and what their workers have counted, read from
// its memory (filch/watched.hpp). The process does nothing for it and is not stopped.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <filch/watched.hpp>

namespace filch::cli {

enum class worker_state : std::uint8_t { running, searching, asleep, absent };

struct watched_worker {
  std::uint64_t steals = 0;
  std::uint64_t failed_steals = 0;
  std::uint64_t leaps = 0;
  std::int64_t without_work_ns = 0;  ///< since it was made: it had no task, or waited with nothing to help with
  worker_state now = worker_state::absent;
};

struct watched_team {
  /// A process has several copies of filch if plug-ins contain one.
  struct identity {
    std::size_t copy = 0;
    std::uint64_t number = 0;
    auto operator<=>(const identity&) const = default;
  };

  identity id;
  std::uint64_t own_workers = 0;  ///< others are guests
  std::string policy;
  std::vector<watched_worker> workers;
};

class watched_process {
 public:
  /// Throws std::runtime_error when there is no such process, it must not be read, or there is no filch in it that this
  /// program understands.
  explicit watched_process(pid_t id);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Has it ended?
  [[nodiscard]] bool is_over() const;
  /// Its schedulers at present. Throws std::runtime_error when it must not be read any more.
  [[nodiscard]] std::vector<watched_team> read() const;

 private:
  struct table {
    std::uint64_t address;
    std::uint32_t schedulers;
  };

  void find_tables();
  [[nodiscard]] bool read_memory(std::uint64_t address, void* to, std::size_t bytes) const;
  [[nodiscard]] bool read_team(std::uint64_t address, watched_team& to) const;
  [[nodiscard]] bool read_worker(std::uint64_t address, const watched::worker_fields& fields, bool has_thread,
                                 watched_worker& to) const;

  pid_t id_;
  std::uint64_t own_id_;  ///< what the process itself is told
  std::string name_;
  std::vector<table> tables_;
};

}  // namespace filch::cli
