// Loads a plug-in, calls it, and unloads it, several times; the threads that it has started go on sleeping meanwhile.
#include <chrono>
#include <thread>

#include <dlfcn.h>

#include "expect.hpp"

using filch::tests::expect;

int main(int argc, char** argv) {
  expect(argc == 2, "one argument, the plug-in");
  for (int i = 0; i < 5; ++i) {
    void* const plugin = dlopen(argv[1], RTLD_NOW);
    expect(plugin != nullptr, "dlopen");
    using function = long (*)(int);
    const auto fib = reinterpret_cast<function>(dlsym(plugin, "plugin_fib"));
    expect(fib != nullptr, "dlsym");
    std::thread other([&] { expect(fib(17) == 1597, "a call by another thread"); });
    expect(fib(18) == 2584, "a call");
    other.join();
    expect(dlclose(plugin) == 0, "dlclose");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // threads on their way to sleep would crash now
  }
  return 0;
}
