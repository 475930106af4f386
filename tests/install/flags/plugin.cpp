// A plug-in that waits for all that it has begun.
#include <memory>

#include <filch/filch.hpp>

extern "C" int plugin_entry() {
  const auto group = std::make_unique<filch::task_group>();
  group->run([] {});
  group->wait();
  return filch::submit([] { return 2; }).then([](int two) { return two + 1; }).get();
}
