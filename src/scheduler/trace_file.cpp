#include "scheduler/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "platform/process.hpp"
#include "platform/thread.hpp"
#include "scheduler/scheduler_core.hpp"

namespace filch::detail {
namespace {

struct closed {
  void operator()(std::FILE* f) const noexcept { static_cast<void>(std::fclose(f)); }
};
using file = std::unique_ptr<std::FILE, closed>;

/// Microseconds, as the format wants them.
struct micros {
  explicit micros(std::int64_t ns) noexcept : whole(ns / 1000), rest(static_cast<int>(ns % 1000)) {}
  std::int64_t whole;
  int rest;
};

class trace_writer {
 public:
  trace_writer(std::FILE* to, std::int64_t begin_ns) noexcept : to_(to), begin_ns_(begin_ns) {
    static_cast<void>(std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", to_));
  }
  void name_team(std::size_t pid, const recorded_team& of) {
    const std::string name = "filch, policy " + of.policy;
    print("\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %zu, \"args\": {\"name\": %s}", pid,
          json_string(name).c_str());
  }
  void name_worker(std::size_t pid, std::uint32_t worker, const recorded_team& of) {
    print("\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %zu, \"tid\": %u, \"args\": {\"name\": \"%s %u\"}", pid,
          worker, worker < of.workers ? "worker" : "guest", worker);
  }
  void event(std::size_t pid, const recorded_event& e) {
    const micros at(e.what.since_ns - begin_ns_);
    const std::string name = json_string(e.what.name);
    if (e.what.until_ns == e.what.since_ns) {
      print(
          "\"name\": %s, \"ph\": \"i\", \"s\": \"t\", \"pid\": %zu, \"tid\": %u, \"ts\": %lld.%03d, \"args\": "
          "{\"number\": %lld}",
          name.c_str(), pid, e.worker, static_cast<long long>(at.whole), at.rest,
          static_cast<long long>(e.what.number));
      return;
    }
    const micros lasts(e.what.until_ns - e.what.since_ns);
    print(
        "\"name\": %s, \"ph\": \"X\", \"pid\": %zu, \"tid\": %u, \"ts\": %lld.%03d, \"dur\": %lld.%03d, \"args\": "
        "{\"number\": %lld}",
        name.c_str(), pid, e.worker, static_cast<long long>(at.whole), at.rest, static_cast<long long>(lasts.whole),
        lasts.rest, static_cast<long long>(e.what.number));
  }
  void end() { static_cast<void>(std::fputs("\n]}\n", to_)); }

 private:
  template <class... Args>
  void print(const char* format, Args... args) {
    static_cast<void>(std::fputs(is_first_ ? "{" : ",\n{", to_));
    is_first_ = false;
    static_cast<void>(std::fprintf(to_, format, args...));
    static_cast<void>(std::fputs("}", to_));
  }

  std::FILE* to_;
  std::int64_t begin_ns_;
  bool is_first_ = true;
};

/// One of two that are written at the end would be lost.
void reject_other_file(const std::string& path, const std::string& where) {
  namespace fs = std::filesystem;
  for (const char* const variable : {"FILCH_PROFILE", "FILCH_TRACE", "FILCH_RECORD"}) {
    const char* const other = where == variable ? nullptr : recording_path(variable);
    std::error_code ignored;
    if (other == nullptr || (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))) continue;
    if (fs::absolute(name_of_file(other)).lexically_normal() != fs::absolute(path).lexically_normal()) continue;
    throw std::invalid_argument(std::string("filch: ")
                                    .append(where)
                                    .append(" and ")
                                    .append(variable)
                                    .append(" are both to be written to '")
                                    .append(path)
                                    .append("'; name another file in one of them"));
  }
}

/// The bytes that characters of UTF-8 begin with (the Unicode Standard, table 3-7); further ones are 80 to bf.
struct character_kind {
  unsigned char least, most;
  unsigned char least_second, most_second;
  std::size_t size;
};
constexpr std::array character_kinds{
    character_kind{0x00, 0x7f, 0x00, 0xff, 1}, character_kind{0xc2, 0xdf, 0x80, 0xbf, 2},
    character_kind{0xe0, 0xe0, 0xa0, 0xbf, 3}, character_kind{0xe1, 0xec, 0x80, 0xbf, 3},
    character_kind{0xed, 0xed, 0x80, 0x9f, 3}, character_kind{0xee, 0xef, 0x80, 0xbf, 3},
    character_kind{0xf0, 0xf0, 0x90, 0xbf, 4}, character_kind{0xf1, 0xf3, 0x80, 0xbf, 4},
    character_kind{0xf4, 0xf4, 0x80, 0x8f, 4}};

/// In bytes; 0: the text begins with something else than UTF-8.
std::size_t size_of_first_character(std::string_view text) noexcept {
  const auto is_in = [&](std::size_t i, unsigned char least, unsigned char most) {
    const auto byte = static_cast<unsigned char>(text[i]);
    return least <= byte && byte <= most;
  };
  for (const character_kind& kind : character_kinds) {
    if (!is_in(0, kind.least, kind.most)) continue;
    bool is_whole = kind.size <= text.size() && (kind.size == 1 || is_in(1, kind.least_second, kind.most_second));
    for (std::size_t i = 2; is_whole && i < kind.size; ++i) is_whole = is_in(i, 0x80, 0xbf);
    return is_whole ? kind.size : 0;
  }
  return 0;
}

std::string reason() { return std::strerror(errno); }

constinit platform::atomic<bool> is_child{false};

constexpr int no_place = -1;
// Relaxed: set before the place has a scheduler.
constinit platform::atomic<int> place_of_process{no_place};

/// Where the program was when the library was loaded; null: no variable named a file then, or it cannot be told. Never
/// destroyed: static objects may make schedulers after it would be, and before the line below.
const std::filesystem::path* first_folder() noexcept {
  static const std::filesystem::path* const folder = []() -> const std::filesystem::path* {
    constexpr std::array variables{"FILCH_PROFILE", "FILCH_TRACE", "FILCH_RECORD", "FILCH_REPLAY"};
    const auto names_file = [](const char* variable) { return recording_path(variable) != nullptr; };
    if (std::ranges::none_of(variables, names_file)) return nullptr;
    try {
      return new std::filesystem::path(std::filesystem::current_path());
    } catch (const std::exception&) {
      return nullptr;  // then names are relative to wherever the program is
    }
  }();
  return folder;
}
[[maybe_unused]] const std::filesystem::path* const folder_at_load = first_folder();

}  // namespace

void name_files_of_place(int number) noexcept {
  place_of_process.store(number, std::memory_order_relaxed);  // see above
}

std::string name_of_file(const std::string& named) {
  const std::filesystem::path* const folder = first_folder();
  std::string path = folder != nullptr ? (*folder / named).string() : named;
  const int place = place_of_process.load(std::memory_order_relaxed);  // see above
  if (place == no_place) return path;
  const std::size_t last = path.find_last_of("./");
  const bool has_extension = last != std::string::npos && path[last] == '.';
  const std::size_t end = has_extension ? last : path.size();
  return path.substr(0, end).append(".").append(std::to_string(place)).append(path, end);
}

const char* recording_path(const char* variable) noexcept {
  const bool may_record = platform::records_traces && !is_child.load(std::memory_order_relaxed);
  const char* const path = may_record ? std::getenv(variable) : nullptr;
  return path == nullptr || *path == 0 ? nullptr : path;
}

void keep_files_from_children() {
  // relaxed: a child begins with one thread.
  platform::call_in_children([] { is_child.store(true, std::memory_order_relaxed); });
}

void write_at_exit(void (*write)()) {
  keep_files_from_children();
  std::atexit(write);
}

std::string json_string(std::string_view text) {
  std::string all = "\"";
  while (!text.empty()) {
    const std::size_t size = size_of_first_character(text);
    const char first = text.front();
    if (size == 0) {
      all += "\xef\xbf\xbd";  // U+FFFD, as the tools have it
    } else if (first == '"' || first == '\\') {
      all += {'\\', first};
    } else if (size == 1 && first < ' ') {
      all += ' ';
    } else {
      all += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return all + '"';
}

std::string writable_path(std::string path, const std::string& where) {
  reject_other_file(path, where);
  if (const file f{std::fopen(path.c_str(), "ae")}; f == nullptr) {
    throw std::invalid_argument("filch: " + where + " '" + path + "' cannot be written: " + reason() +
                                "; name a file in a folder that is there");
  }
  return std::filesystem::absolute(std::move(path)).string();
}

void write_trace(const std::string& path, const std::vector<recorded_team>& all) {
  file f{std::fopen(path.c_str(), "we")};
  const auto fail = [&] { throw std::runtime_error("filch: the trace '" + path + "' cannot be written: " + reason()); };
  if (f == nullptr) fail();
  std::int64_t begin_ns = 0;
  for (const recorded_team& team : all) {
    for (const recorded_event& e : team.events) {
      if (begin_ns == 0 || e.what.since_ns < begin_ns) begin_ns = e.what.since_ns;
    }
  }
  trace_writer to(f.get(), begin_ns);
  for (std::size_t pid = 0; pid != all.size(); ++pid) {
    to.name_team(pid, all[pid]);
    std::vector<bool> is_named;
    for (const recorded_event& e : all[pid].events) {
      if (is_named.size() <= e.worker) is_named.resize(e.worker + std::size_t{1});
      if (!is_named[e.worker]) to.name_worker(pid, e.worker, all[pid]);
      is_named[e.worker] = true;
      to.event(pid, e);
    }
  }
  to.end();
  if (std::ferror(f.get()) != 0 || std::fclose(f.release()) != 0) fail();
}

namespace {

/// What was recorded of schedulers that have ended: the newest ones, as many as have together no more events than the rings
/// of eight workers; or the last one. The others are left out, as the oldest events of a ring are.
class ended_teams {
 public:
  /// Throws std::bad_alloc.
  void add(recorded_team one) {
    one.events.shrink_to_fit();
    all_.push_back(std::move(one));
    size_ += size_of(all_.back());
    for (; size_ > most && all_.size() > 1; all_.pop_front()) size_ -= size_of(all_.front());
  }
  [[nodiscard]] std::vector<recorded_team> take() {
    return {std::move_iterator(all_.begin()), std::move_iterator(all_.end())};
  }

 private:
  static constexpr std::size_t most = std::size_t{8} * 65'536;

  /// A team takes about as much as an event.
  static std::size_t size_of(const recorded_team& one) noexcept { return one.events.size() + 1; }

  std::deque<recorded_team> all_;
  std::size_t size_ = 0;
};

/// Never destroyed: schedulers may end after it would be.
struct process_recording {
  platform::mutex mutex;
  std::string path;
  ended_teams ended;
  std::vector<scheduler_core*> running;
};

process_recording& of_process() {
  static process_recording& all = *new process_recording;
  return all;
}

void write_recording() noexcept {
  if (recording_path("FILCH_TRACE") == nullptr) return;
  process_recording& all = of_process();
  const std::lock_guard lock(all.mutex);
  try {
    std::vector<recorded_team> teams = all.ended.take();
    for (const scheduler_core* const each : all.running) teams.push_back(each->recorded());
    write_trace(all.path, teams);
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "%s\n", error.what()));
  }
}

}  // namespace

process_trace::process_trace(scheduler_core& of) : of_(of), is_wanted_(recording_path("FILCH_TRACE") != nullptr) {
  if (!is_wanted_) return;
  const char* const path = recording_path("FILCH_TRACE");
  process_recording& all = of_process();
  const std::lock_guard lock(all.mutex);
  if (all.path.empty()) {
    all.path = writable_path(name_of_file(path), "FILCH_TRACE");
    write_at_exit([] { write_recording(); });
  }
  all.running.push_back(&of);
}

process_trace::~process_trace() {
  // Not in a child that was made meanwhile: a thread of the parent may have one of the locks.
  if (!is_wanted_ || recording_path("FILCH_TRACE") == nullptr) return;
  process_recording& all = of_process();
  const std::lock_guard lock(all.mutex);
  std::erase(all.running, &of_);
  try {
    all.ended.add(of_.recorded());
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "filch: part of the trace is lost: %s\n", error.what()));
  }
}

}  // namespace filch::detail
