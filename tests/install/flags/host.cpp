// Uses the same shared library as a plug-in, which it unloads. A worker may be about to end the plug-in's tasks then: what was
// submitted lies in a queue still when the caller of get() has run it.
#include <chrono>
#include <cstdio>
#include <thread>

#include <dlfcn.h>

#include <filch/filch.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  filch::fork_join([] {}, [] {});
  for (int i = 0; i < 20; ++i) {
    void* const plugin = dlopen(argv[1], RTLD_NOW);
    if (plugin == nullptr) {
      static_cast<void>(std::fprintf(stderr, "%s\n", dlerror()));
      return 1;
    }
    const auto entry = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_entry"));
    if (entry == nullptr || entry() != 3 || dlclose(plugin) != 0) return 1;
    // Nothing is waited for: a worker that would use what is gone has the time to do so, and to crash.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return 0;
}
