#include "vm/machine/interconnect.hpp"

#include <tuple>
#include <utility>

#include "vm/machine/mix.hpp"

namespace filch::platform::vm {
namespace {

/// For heaps, whose first is the last in this order.
constexpr auto later = [](const auto& a, const auto& b) {
  return std::tuple(a.at, a.from, a.number) > std::tuple(b.at, b.from, b.number);
};

}  // namespace

interconnect::interconnect(const network_costs& costs, std::size_t nodes, std::uint64_t seed)
    : latency_(from_ns(costs.latency_ns)),
      ns_per_byte_(costs.ns_per_byte),
      send_overhead_(from_ns(costs.send_overhead_ns)),
      receive_overhead_(from_ns(costs.receive_overhead_ns)),
      read_(from_ns(costs.read_ns)),
      atomic_(from_ns(costs.atomic_ns)),
      poll_(from_ns(costs.poll_ns)),
      jitter_(costs.jitter),
      seed_(seed),
      ends_(nodes) {}

/// From 0 to 1.
double interconnect::chance(std::uint32_t from, std::uint64_t number) const noexcept {
  return static_cast<double>(mix(mix(seed_ + from) + number) >> 11) * 0x1p-53;
}

/// Of the sender's next message.
picoseconds interconnect::arrival(std::uint32_t from, std::uint32_t to, std::size_t bytes, picoseconds now) {
  end_point& sender = ends_[from];
  ++sender.sent;
  sender.link_free_at = std::max(sender.link_free_at, now) + from_ns(ns_per_byte_ * static_cast<double>(bytes));
  const auto longer = static_cast<picoseconds>(static_cast<double>(latency_) * jitter_ * chance(from, sender.sent));
  if (sender.newest_arrival.empty()) sender.newest_arrival.resize(ends_.size());
  picoseconds& newest = sender.newest_arrival[to];
  newest = std::max(newest, sender.link_free_at + latency_ + longer);
  return newest;
}

std::uint64_t interconnect::send(std::uint32_t from, std::uint32_t to, std::vector<std::byte>&& bytes,
                                 bool wants_receipt, picoseconds now) {
  const picoseconds at = arrival(from, to, bytes.size(), now);
  const std::uint64_t number = ends_[from].sent;
  if (wants_receipt) ends_[from].receipts.push_back({number, never});
  std::vector<parcel>& inbox = ends_[to].inbox;
  inbox.push_back({at, from, number, wants_receipt, std::move(bytes)});
  std::push_heap(inbox.begin(), inbox.end(), later);
  return number;
}

std::optional<world::arrival> interconnect::receive(std::uint32_t node, picoseconds now) {
  std::vector<parcel>& inbox = ends_[node].inbox;
  if (inbox.empty() || inbox.front().at > now) return std::nullopt;
  std::pop_heap(inbox.begin(), inbox.end(), later);
  parcel& first = inbox.back();
  if (first.wants_receipt) {
    std::vector<receipt>& wanted = ends_[first.from].receipts;
    const auto of_this =
        std::find_if(wanted.begin(), wanted.end(), [&](const receipt& each) { return each.number == first.number; });
    of_this->at = now + receive_overhead_ + latency_;
  }
  world::arrival arrived{static_cast<int>(first.from), std::move(first.bytes)};
  inbox.pop_back();
  return arrived;
}

bool interconnect::was_received(std::uint32_t node, std::uint64_t number, picoseconds now) {
  std::vector<receipt>& wanted = ends_[node].receipts;
  const auto found =
      std::find_if(wanted.begin(), wanted.end(), [&](const receipt& each) { return each.number == number; });
  if (found == wanted.end()) return true;
  if (found->at > now) return false;
  wanted.erase(found);
  return true;
}

word& interconnect::word_at(std::uint32_t node, std::size_t which) {
  std::vector<word>& words = ends_[node].words;
  if (words.size() <= which) words.resize(which + 1);
  return words[which];
}

void interconnect::put(std::uint32_t to, const access& a) {
  std::vector<access>& accesses = ends_[to].accesses;
  accesses.push_back(a);
  std::push_heap(accesses.begin(), accesses.end(), later);
}

void interconnect::begin_load(std::uint32_t from, std::uint32_t to, std::size_t which, fiber& caller, picoseconds now) {
  put(to, {access::kind::load, from, ++ends_[from].sent, now + read_ / 2, now + read_, which, 0, 0, &caller});
}

void interconnect::begin_compare_exchange(std::uint32_t from, std::uint32_t to, std::size_t which, word expected,
                                          word desired, fiber& caller, picoseconds now) {
  put(to, {access::kind::compare_exchange, from, ++ends_[from].sent, now + atomic_ / 2, now + atomic_, which, expected,
           desired, &caller});
}

void interconnect::begin_store(std::uint32_t from, std::uint32_t to, std::size_t which, word value, picoseconds now) {
  const picoseconds at = arrival(from, to, sizeof(word), now);
  put(to, {access::kind::store, from, ends_[from].sent, at, at, which, 0, value, nullptr});
}

picoseconds interconnect::next_access(std::uint32_t node) const noexcept {
  const std::vector<access>& accesses = ends_[node].accesses;
  return accesses.empty() ? never : accesses.front().at;
}

interconnect::performed interconnect::perform_next(std::uint32_t node) {
  std::vector<access>& accesses = ends_[node].accesses;
  std::pop_heap(accesses.begin(), accesses.end(), later);
  const access a = accesses.back();
  accesses.pop_back();
  word& there = word_at(node, a.which);
  const word before = there;
  const bool writes =
      a.what == access::kind::store || (a.what == access::kind::compare_exchange && before == a.expected);
  if (writes) there = a.desired;
  return {a.caller, before, a.back_at};
}

}  // namespace filch::platform::vm
