#include "platform/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace filch::platform {
namespace {

using thread_list = std::vector<hardware_thread>;

constexpr auto core_level = static_cast<std::size_t>(group_level::core);
constexpr auto cache_level = static_cast<std::size_t>(group_level::cache);
constexpr auto socket_level = static_cast<std::size_t>(group_level::socket);

/// The sockets' hardware threads, in the order in which they are used.
std::vector<thread_list> sockets_of(thread_list on) {
  std::ranges::sort(on, {}, &hardware_thread::processor);
  struct candidate {
    std::uint32_t turn;  ///< how many hardware threads of its core come before
    hardware_thread thread;
  };
  std::map<std::uint32_t, std::uint32_t> seen_of_core;
  std::map<std::uint32_t, std::vector<candidate>> by_socket;
  for (const hardware_thread& each : on) {
    by_socket[each.groups[socket_level]].push_back({seen_of_core[each.groups[core_level]]++, each});
  }
  std::vector<thread_list> sockets;
  for (auto& [number, candidates] : by_socket) {
    std::ranges::sort(candidates, {}, [](const candidate& c) {
      return std::tuple(c.turn, c.thread.groups[cache_level], c.thread.groups[core_level]);
    });
    thread_list& socket = sockets.emplace_back();
    for (const candidate& each : candidates) socket.push_back(each.thread);
  }
  return sockets;
}

/// How many workers each socket has.
std::vector<std::size_t> shares_of(const std::vector<thread_list>& sockets, std::size_t workers) {
  std::size_t threads = 0;
  for (const thread_list& socket : sockets) threads += socket.size();
  const std::size_t rounds = (workers + threads - 1) / threads;
  std::vector<std::size_t> shares(sockets.size());
  for (std::size_t w = 0; w < workers; ++w) ++shares[w * sockets.size() / workers];
  std::size_t homeless = 0;
  const auto balance = [&](std::size_t s) {
    const std::size_t wanted = shares[s] + homeless;
    shares[s] = std::min(wanted, rounds * sockets[s].size());
    homeless = wanted - shares[s];
  };
  for (std::size_t s = 0; s < sockets.size(); ++s) balance(s);
  for (std::size_t s = sockets.size(); s-- > 0;) balance(s);
  return shares;
}

}  // namespace

std::vector<worker_place> place_workers(std::vector<hardware_thread> on, int workers, pinning way) {
  const std::vector<thread_list> sockets = sockets_of(std::move(on));
  const auto count = static_cast<std::size_t>(workers);
  std::vector<worker_place> places;
  places.reserve(count);
  const auto put = [&](const hardware_thread& at) { places.push_back({at.processor, at.groups}); };
  if (way == pinning::scatter) {
    const std::vector<std::size_t> shares = shares_of(sockets, count);
    for (std::size_t s = 0; s < sockets.size(); ++s) {
      for (std::size_t i = 0; i < shares[s]; ++i) put(sockets[s][i % sockets[s].size()]);
    }
    return places;
  }
  while (places.size() < count) {
    for (const thread_list& socket : sockets) {
      for (std::size_t i = 0; i < socket.size() && places.size() < count; ++i) put(socket[i]);
    }
  }
  return places;
}

}  // namespace filch::platform
