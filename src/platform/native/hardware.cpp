#include "platform/hardware.hpp"

#include <map>
#include <tuple>

namespace filch::platform {
namespace {

/// Numbers from 0 on in the order of the keys.
template <class Key>
void number_in_order(std::map<Key, std::uint32_t>& groups) {
  std::uint32_t next = 0;
  for (auto& [key, number] : groups) number = next++;
}

}  // namespace

std::vector<hardware_thread> hardware_of(const topology& machine, const std::vector<int>& usable) {
  std::vector<hardware_thread> threads;
  if (machine.cpus.empty()) {
    for (const int processor : usable) {
      threads.push_back({processor, {static_cast<std::uint32_t>(threads.size()), 0, 0}});
    }
    // Not even that is known.
    if (threads.empty()) threads.push_back({no_processor, {}});
    return threads;
  }
  // Outer groups are part of an inner one's key: systems number cores anew in each package.
  const auto socket_of = [](const topology::core_info& c) { return std::tuple(c.package, c.numa_node); };
  const auto cache_of = [](const topology::core_info& c) { return std::tuple(c.package, c.numa_node, c.l3); };
  const auto core_of = [](const topology::core_info& c) { return std::tuple(c.package, c.numa_node, c.l3, c.core); };
  std::map<std::tuple<int, int>, std::uint32_t> sockets;
  std::map<std::tuple<int, int, int>, std::uint32_t> caches;
  std::map<std::tuple<int, int, int, int>, std::uint32_t> cores;
  for (const auto& each : machine.cpus) {
    sockets[socket_of(each)] = caches[cache_of(each)] = cores[core_of(each)] = 0;
  }
  number_in_order(sockets);
  number_in_order(caches);
  number_in_order(cores);
  for (const auto& each : machine.cpus) {
    threads.push_back({each.cpu, {cores[core_of(each)], caches[cache_of(each)], sockets[socket_of(each)]}});
  }
  return threads;
}

}  // namespace filch::platform
