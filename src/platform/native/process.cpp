#include "platform/process.hpp"

#include <mutex>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace filch::platform {
namespace {

constinit std::mutex forking;

}  // namespace

process_id this_process() noexcept { return getpid(); }

void call_in_children(void (*f)()) {
  // Fails only for want of memory. Then a child that uses the default scheduler runs its tasks on one thread.
  static_cast<void>(pthread_atfork(nullptr, nullptr, f));
}

void without_fork::prepare() {
  // Fails only for want of memory. Then a child may wait for what nobody gives back.
  static_cast<void>(pthread_atfork([] { forking.lock(); }, [] { forking.unlock(); }, [] { forking.unlock(); }));
}

without_fork::without_fork() { forking.lock(); }

without_fork::~without_fork() { forking.unlock(); }

void keep_loaded(const void* address) noexcept {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return;
  // The handle is kept for good. Of the program itself there may be none, which is as well.
  static_cast<void>(dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace filch::platform
