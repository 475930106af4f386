#include "scheduler/process_profile.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>

#include "platform/clock.hpp"
#include "platform/thread.hpp"
#include "platform/usable.hpp"
#include "scheduler/profile_page.hpp"
#include "scheduler/trace_file.hpp"

namespace filch::detail {
namespace {

constexpr const char* variable = "FILCH_PROFILE";

/// Never destroyed: schedulers may end after it would be.
struct profile_of_process {
  platform::mutex mutex;
  std::string path;
  std::int64_t begin_ns = 0;
  std::int64_t in_roots_ns = 0;
  std::uint64_t begun_roots = 0;  ///< that have not ended
  profiled_work all;
};

profile_of_process& whole_profile() {
  static profile_of_process& all = *new profile_of_process;
  return all;
}

void write_profile() noexcept {
  if (recording_path(variable) == nullptr) return;
  profile_of_process& of = whole_profile();
  const std::lock_guard lock(of.mutex);
  if (of.begun_roots > 0) {
    static_cast<void>(std::fprintf(
        stderr, "filch: profile '%s' lacks what had not ended when the program exited (calls of run and tasks: %llu)\n",
        of.path.c_str(), static_cast<unsigned long long>(of.begun_roots)));
  }
  try {
    // Threads may have had roots at the same time.
    const std::int64_t outside_ns = std::max<std::int64_t>(0, platform::now_ns() - of.begin_ns - of.in_roots_ns);
    write_profile_page(of.path, {.program = program_invocation_short_name,
                                 .workers = platform::usable_workers(),
                                 .outside_ns = outside_ns,
                                 .work = of.all});
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "%s\n", error.what()));
  }
}

}  // namespace

bool process_profile::is_asked_for() noexcept { return recording_path(variable) != nullptr; }

process_profile::process_profile() : is_wanted_(is_asked_for()) {
  if (!is_wanted_) return;
  profile_of_process& of = whole_profile();
  const std::lock_guard lock(of.mutex);
  if (!of.path.empty()) return;
  of.path = writable_path(name_of_file(recording_path(variable)), variable);
  of.begin_ns = platform::now_ns();
  write_at_exit([] { write_profile(); });
}

void process_profile::begin_root() noexcept {
  profile_of_process& of = whole_profile();
  const std::lock_guard lock(of.mutex);
  ++of.begun_roots;
}

// Not in a child that was made in a root: a thread of the parent may have the lock.
void process_profile::end_root(std::int64_t since_ns) noexcept {
  if (!is_asked_for()) return;
  profile_of_process& of = whole_profile();
  const std::lock_guard lock(of.mutex);
  --of.begun_roots;
  of.in_roots_ns += platform::now_ns() - since_ns;
}

void process_profile::add(const profiled_work& root) noexcept {
  if (!is_asked_for()) return;
  profile_of_process& of = whole_profile();
  const std::lock_guard lock(of.mutex);
  try {
    of.all.add(root);
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "filch: part of the profile is lost: %s\n", error.what()));
  }
}

}  // namespace filch::detail
