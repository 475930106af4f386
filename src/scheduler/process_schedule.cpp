#include "scheduler/process_schedule.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "platform/thread.hpp"
#include "platform/usable.hpp"
#include "scheduler/trace_file.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

constexpr const char* record_variable = "FILCH_RECORD";
constexpr const char* replay_variable = "FILCH_REPLAY";
constexpr const char* first_word = "filch-schedule-2";
constexpr const char* last_word = "over";  // who cuts the file off anywhere cuts this off

/// A scheduler, and a call of its run().
using call = std::pair<int, int>;

struct recorded_call {
  int workers = 0;
  std::vector<task_trace::placement> tasks;
};

/// Never destroyed: schedulers may end after it would be.
struct whole_schedule {
  platform::mutex mutex;
  bool is_open = false;
  int schedulers = 0;             ///< made so far
  std::string path;               ///< of what is recorded
  std::uint64_t begun_calls = 0;  ///< recorded, and not ended
  std::map<call, recorded_call> parts;
};

whole_schedule& schedule_of_process() {
  static whole_schedule& all = *new whole_schedule;
  return all;
}

void write_schedule() noexcept {
  if (recording_path(record_variable) == nullptr) return;
  whole_schedule& all = schedule_of_process();
  const std::lock_guard lock(all.mutex);
  if (all.begun_calls > 0) {
    static_cast<void>(std::fprintf(
        stderr,
        "filch: schedule '%s' lacks what had not ended when the program exited (calls of run: %llu); exit after them\n",
        all.path.c_str(), static_cast<unsigned long long>(all.begun_calls)));
  }
  std::ofstream out(all.path);
  out << first_word << '\n';
  for (const auto& [of, each] : all.parts) {
    out << of.first << ' ' << of.second << ' ' << each.workers << ' ' << each.tasks.size() << '\n';
    for (const task_trace::placement& task : each.tasks) out << task.task << ' ' << task.by << '\n';
  }
  out << last_word << '\n';
  if (!out.flush()) {
    static_cast<void>(std::fprintf(stderr, "filch: the schedule '%s' cannot be written: %s\n", all.path.c_str(),
                                   std::strerror(errno)));
  }
}

void read_schedule(whole_schedule& into, const std::string& path) {
  const auto reject = [&](const std::string& why, const char* remedy = "name a file that FILCH_RECORD wrote") {
    throw std::invalid_argument("filch: FILCH_REPLAY '" + path + "' " + why + "; " + remedy);
  };
  std::ifstream in(path);
  if (!in) reject(std::string("cannot be read: ") + std::strerror(errno));
  std::string word;
  if (!(in >> word) || word != first_word) reject("is no schedule");
  int scheduler = 0;
  int number = 0;
  recorded_call each;
  for (std::size_t tasks = 0; in >> scheduler >> number >> each.workers >> tasks;) {
    const auto other = into.parts.lower_bound({scheduler, 0});  // of the same scheduler, if it has one
    const bool is_another =
        other != into.parts.end() && other->first.first == scheduler && other->second.workers != each.workers;
    if (each.workers < 1 || each.workers > platform::most_workers || is_another) {
      reject("has a call with " + std::to_string(each.workers) + " workers, which its scheduler has not");
    }
    each.tasks.clear();
    task_trace::placement task;
    for (; tasks != 0 && in >> task.task >> task.by; --tasks) {
      const bool is_there = task.by == task_trace::by_root || task.by < static_cast<std::uint32_t>(each.workers);
      if (!is_there) reject("names a worker that is not there");
      each.tasks.push_back(task);
    }
    if (tasks != 0) reject("ends in the middle");
    into.parts[{scheduler, number}] = each;
  }
  in.clear();
  if (!(in >> word)) reject("ends in the middle");
  if (word != last_word) reject("is damaged");
  if (into.parts.empty()) reject("has no call of run that ended", "record a program that exits after one");
}

/// The file is read, or known to be writable, before the first scheduler is there. The lock is held.
void open_schedule(whole_schedule& all) {
  if (std::exchange(all.is_open, true)) return;
  try {
    const char* const from = recording_path(replay_variable);
    const char* const to = recording_path(record_variable);
    if (from != nullptr && to != nullptr) {
      throw std::invalid_argument("filch: FILCH_RECORD and FILCH_REPLAY are both set; record a schedule or replay one");
    }
    if (from != nullptr) {
      read_schedule(all, name_of_file(from));
      keep_files_from_children();
    } else {
      all.path = writable_path(name_of_file(to), record_variable);
      write_at_exit([] { write_schedule(); });
    }
  } catch (const std::exception&) {
    all.is_open = false;
    throw;
  }
}

bool is_replayed() noexcept { return recording_path(replay_variable) != nullptr; }

/// Throws where the schedule has the scheduler that is made next with another number of workers. The lock is held.
void check_workers(const whole_schedule& all, int workers) {
  const auto found = all.parts.find({all.schedulers, 0});
  if (!is_replayed() || found == all.parts.end() || found->second.workers == workers) return;
  throw std::invalid_argument("filch: " + std::to_string(workers) +
                              " workers, where the schedule of FILCH_REPLAY has " +
                              std::to_string(found->second.workers) + "; replay with as many as were recorded");
}

}  // namespace

bool process_schedule::is_asked_for() noexcept { return is_replayed() || recording_path(record_variable) != nullptr; }

int process_schedule::recorded_workers() {
  whole_schedule& all = schedule_of_process();
  const std::lock_guard lock(all.mutex);
  open_schedule(all);
  const auto found = all.parts.find({all.schedulers, 0});
  return found == all.parts.end() ? 0 : found->second.workers;
}

process_schedule::process_schedule(int workers) : workers_(workers) {
  if (!is_asked_for()) return;
  whole_schedule& all = schedule_of_process();
  const std::lock_guard lock(all.mutex);
  open_schedule(all);
  check_workers(all, workers);
}

void process_schedule::take_number() {
  if (!is_asked_for()) return;
  whole_schedule& all = schedule_of_process();
  const std::lock_guard lock(all.mutex);
  check_workers(all, workers_);  // another one may have been made meanwhile
  number_ = all.schedulers++;
}

void process_schedule::begin_root(worker& w, const void* frame) {
  if (number_ < 0 || !is_asked_for()) return;  // a scheduler of the parent may be used in a child
  auto trace = std::make_unique<task_trace>(0, true);
  static_cast<void>(trace->begin(w, frame));
  whole_schedule& all = schedule_of_process();
  const std::lock_guard lock(all.mutex);
  if (is_replayed()) {
    const auto found = all.parts.find({number_, calls_});
    trace->follow(found == all.parts.end() ? std::vector<task_trace::placement>{} : found->second.tasks);
  } else {
    ++all.begun_calls;
  }
  trace_ = std::move(trace);
  w.place.path = {.trace = trace_.get(), .id = task_trace::root()};
  w.diverts = true;
  w.raise();
}

void process_schedule::end_root(worker& w) noexcept {
  if (trace_ == nullptr) return;
  w.place.path = {};
  w.diverts = false;
  trace_->end(false);
  // Not in a child that was made in the call: a thread of the parent may have the lock.
  if (recording_path(record_variable) != nullptr) {
    whole_schedule& all = schedule_of_process();
    const std::lock_guard lock(all.mutex);
    all.parts[{number_, calls_}] = {workers_, trace_->recorded()};
    --all.begun_calls;
  }
  ++calls_;
  trace_ = nullptr;
}

}  // namespace filch::detail
