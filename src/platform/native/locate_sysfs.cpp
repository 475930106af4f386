// Where hardware threads are, from /sys: for builds without hwloc.
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/usable.hpp"

namespace filch::platform {
namespace {

namespace fs = std::filesystem;

int number_in(const fs::path& file, int otherwise) {
  int number = otherwise;
  std::ifstream in(file);
  return in >> number && number >= 0 ? number : otherwise;
}

int numa_node_of(const fs::path& cpu) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cpu, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("node")) return std::stoi(name.substr(4));
  }
  return 0;
}

}  // namespace

void locate(const std::vector<int>& cpus, topology& found) {
  found.source = "sysfs";
  for (const int cpu : cpus) {
    const fs::path directory = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const int package = number_in(directory / "topology/physical_package_id", 0);
    found.cpus.push_back({.package = package,
                          .numa_node = numa_node_of(directory),
                          .l3 = number_in(directory / "cache/index3/id", package),
                          .core = number_in(directory / "topology/core_id", cpu),
                          .cpu = cpu});
  }
}

}  // namespace filch::platform
