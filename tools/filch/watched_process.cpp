#include "watched_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/uio.h>

#include "elf_section.hpp"
#include "text_file.hpp"

namespace filch::cli {

namespace {

// A team has no more; what says so was overwritten.
constexpr std::uint64_t most_in_team = 1U << 16;

[[noreturn]] void reject_missing(pid_t id) {
  throw std::runtime_error(fmt::format("there is no process {}; 'ps' and 'pgrep' show what there is", id));
}

[[noreturn]] void reject_forbidden(pid_t id) {
  throw std::runtime_error(fmt::format(
      "the memory of process {} may not be read; be its user, and root if /proc/sys/kernel/yama/ptrace_scope is not 0",
      id));
}

std::filesystem::path proc(pid_t id, std::string_view what) {
  return std::filesystem::path("/proc") / std::to_string(id) / what;
}

// The value of a line of /proc/ID/status, which names it.
std::string status_of(pid_t id, std::string_view name) {
  std::istringstream lines(text_of(proc(id, "status")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name) && line[name.size()] == ':') {
      return line.substr(std::min(line.size(), line.find_first_not_of(" \t", name.size() + 1)));
    }
  }
  return {};
}

// Each namespace that the process is in has another id for it; the last one is its own.
std::uint64_t own_id_of(pid_t id) {
  const std::string all = status_of(id, "NSpid");
  const std::string last = all.substr(all.find_last_of(" \t") + 1);
  std::uint64_t own = static_cast<std::uint64_t>(id);
  std::from_chars(last.data(), last.data() + last.size(), own);
  return own;
}

struct mapped_file {
  std::uint64_t start;
  std::string path;
};

// Where the first bytes of files are mapped.
std::vector<mapped_file> mapped_files(const std::string& maps) {
  std::vector<mapped_file> all;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string range;
    std::string rights;
    std::string offset;
    std::string device;
    std::string inode;
    std::string path;
    words >> range >> rights >> offset >> device >> inode;
    std::getline(words >> std::ws, path);
    std::uint64_t start = 0;
    const bool is_start = offset.find_first_not_of('0') == std::string::npos;
    if (path.starts_with('/') && is_start &&
        std::from_chars(range.data(), range.data() + range.size(), start, 16).ec == std::errc{}) {
      all.push_back({start, path});
    }
  }
  return all;
}

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t lasted_ns(std::int64_t word) { return (word >> 1) + (word % 2 != 0 ? steady_ns() : 0); }

template <class T>
T field(const std::vector<std::byte>& memory, std::ptrdiff_t at) {
  T value;
  std::memcpy(&value, memory.data() + at, sizeof value);
  return value;
}

}  // namespace

watched_process::watched_process(pid_t id) : id_(id), own_id_(own_id_of(id)), name_(status_of(id, "Name")) {
  find_tables();
}

void watched_process::find_tables() {
  if (is_over()) {
    reject_missing(id_);
  }
  std::error_code error;
  const std::string program = std::filesystem::read_symlink(proc(id_, "exe"), error).string();
  const std::string maps = text_of(proc(id_, "maps"));
  if (error == std::errc::permission_denied || (maps.empty() && error)) {
    reject_forbidden(id_);
  }
  std::set<std::string> without;  // paths, most of which are mapped once
  std::string other;
  for (const auto& [start, path] : mapped_files(maps)) {
    if (without.contains(path)) {
      continue;
    }
    // The program's own file is found there even if another one has its name by now.
    const std::filesystem::path file = path == program ? proc(id_, "exe") : proc(id_, "root") / path.substr(1);
    const auto section = find_section(file.string(), watched::section);
    if (!section) {
      without.insert(path);
      continue;
    }
    watched::table_header head{};
    if (!read_memory(start + section->from_start, &head, sizeof head) || head.magic != watched::magic) {
      continue;  // the file is mapped twice, this time as data
    }
    if (head.version != watched::version || head.schedulers > section->bytes / sizeof(std::uint64_t)) {
      other = fmt::format(
          "process {} has another version of filch ({} of what is shown instead of {}); use that version's "
          "'filch top'",
          id_, head.version, watched::version);
      continue;
    }
    tables_.push_back({start + section->from_start + sizeof head, head.schedulers});
  }
  if (tables_.empty()) {
    throw std::runtime_error(!other.empty() ? other
                                            : fmt::format("there is no filch in process {} ({}), or one that cannot be "
                                                          "watched; name a program that uses filch",
                                                          id_, name_));
  }
}

bool watched_process::is_over() const {
  const std::string state = status_of(id_, "State");
  return state.empty() || state.starts_with('Z') || state.starts_with('X');
}

bool watched_process::read_memory(std::uint64_t address, void* to, std::size_t bytes) const {
  const iovec here{to, bytes};
  // Never used as one.
  const iovec there{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  const ssize_t read = process_vm_readv(id_, &here, 1, &there, 1, 0);
  if (read < 0 && errno == EPERM) {
    reject_forbidden(id_);
  }
  return read == static_cast<ssize_t>(bytes);
}

bool watched_process::read_worker(std::uint64_t address, const watched::worker_fields& fields, bool has_thread,
                                  watched_worker& to) const {
  const std::array offsets{fields.steals,  fields.failed_steals, fields.leaps,  fields.idle,
                           fields.waiting, fields.sleep_state,   fields.dozing, fields.attached};
  const auto [first, last] = std::ranges::minmax(offsets);
  constexpr std::int32_t most_apart = 1 << 16;
  if (last - first > most_apart) {
    return false;
  }
  std::vector<std::byte> memory(static_cast<std::size_t>(last - first) + sizeof(std::uint64_t));
  if (!read_memory(address + static_cast<std::uint64_t>(first), memory.data(), memory.size())) {
    return false;
  }
  to.steals = field<std::uint64_t>(memory, fields.steals - first);
  to.failed_steals = field<std::uint64_t>(memory, fields.failed_steals - first);
  to.leaps = field<std::uint64_t>(memory, fields.leaps - first);
  const auto idle = field<std::int64_t>(memory, fields.idle - first);
  const auto waiting = field<std::int64_t>(memory, fields.waiting - first);
  to.without_work_ns = lasted_ns(idle) + lasted_ns(waiting);
  const bool is_searching = (idle | waiting) % 2 != 0;
  const bool is_asleep = field<std::uint8_t>(memory, fields.sleep_state - first) == 1 ||
                         field<std::uint8_t>(memory, fields.dozing - first) == 1;
  const bool is_attached = has_thread || field<std::uint8_t>(memory, fields.attached - first) == 1;
  to.now = is_asleep      ? worker_state::asleep
           : is_searching ? worker_state::searching
           : is_attached  ? worker_state::running
                          : worker_state::absent;
  return true;
}

bool watched_process::read_team(std::uint64_t address, watched_team& to) const {
  watched::scheduler s{};
  std::uint32_t all = 0;
  if (!read_memory(address, &s, sizeof s) || s.magic != watched::magic || s.process != own_id_ ||
      !read_memory(s.all, &all, sizeof all) || all == 0 || all > most_in_team) {
    return false;
  }
  std::vector<std::uint64_t> addresses(all);
  if (!read_memory(s.team, addresses.data(), addresses.size() * sizeof addresses.front())) {
    return false;
  }
  to = {.id = {0, s.number},
        .own_workers = s.workers,
        .policy = std::string(std::begin(s.policy), std::ranges::find(s.policy, '\0')),
        .workers = std::vector<watched_worker>(all)};
  for (std::uint32_t i = 0; i != all; ++i) {
    if (!read_worker(addresses[i], s.fields, i != 0 && i < s.workers, to.workers[i])) {
      return false;
    }
  }
  return true;
}

std::vector<watched_team> watched_process::read() const {
  std::vector<watched_team> teams;
  for (const table& each : tables_) {
    std::vector<std::uint64_t> schedulers(each.schedulers);
    if (!read_memory(each.address, schedulers.data(), schedulers.size() * sizeof(std::uint64_t))) {
      continue;
    }
    for (const std::uint64_t address : schedulers) {
      watched_team team;
      if (address != 0 && read_team(address, team)) {
        team.id.copy = static_cast<std::size_t>(&each - tables_.data());
        teams.push_back(std::move(team));
      }
    }
  }
  return teams;
}

}  // namespace filch::cli
