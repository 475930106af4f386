#include "vm/explorer/memory_model.hpp"

#include <algorithm>

namespace filch::platform::vm {
namespace {

using order_t = std::memory_order;

bool acquires(order_t order) noexcept {
  return order == order_t::acquire || order == order_t::consume || order == order_t::acq_rel ||
         order == order_t::seq_cst;
}
bool releases(order_t order) noexcept {
  return order == order_t::release || order == order_t::acq_rel || order == order_t::seq_cst;
}
bool ordered(order_t order) noexcept { return order == order_t::seq_cst; }

void merge(memory_model::clock& into, const memory_model::clock& from) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

void memory_model::reset(strategy& choices) noexcept {
  choices_ = &choices;
  objects_.reset();
  begun_ = 0;
  plains_.reset();
  clocks_ = {};
  clocks_[0][0] = 1;
  too_early_ = false;
}

void memory_model::fork(std::uint32_t parent, std::uint32_t child) noexcept {
  ++clocks_[parent][parent];
  clocks_[child] = clocks_[parent];
}

void memory_model::join(std::uint32_t thread, std::uint32_t ended) noexcept {
  ++clocks_[ended][ended];
  merge(clocks_[thread], clocks_[ended]);
}

void memory_model::clear(object& o, const word& at) {
  o.address = &at;
  o.begun_as = begun_++;
  o.history.clear();
  o.history.push_back({.value = at, .at = gap, .modified = false, .releases = false, .released = {}});
  o.threads = 0;
  o.ordered = 0;
  o.maker = most_threads;
}

memory_model::object& memory_model::find(std::uint32_t thread, word& at) {
  bool fresh = false;
  object& o = objects_.obtain(&at, fresh);
  if (fresh) o.number = objects_.size() - 1;
  if (fresh || o.address == nullptr) clear(o, at);
  too_early_ = o.maker != most_threads && o.made > clocks_[thread][o.maker];
  ++clocks_[thread][thread];
  return o;
}

void memory_model::begin(std::uint32_t thread, word& at) {
  bool fresh = false;
  object& o = objects_.obtain(&at, fresh);
  if (fresh) o.number = objects_.size() - 1;
  clear(o, at);
  o.maker = thread;
  o.made = ++clocks_[thread][thread];
  remember(thread, o, gap);
}

memory_model::place memory_model::past(std::uint32_t thread, const object& o) const noexcept {
  place newest = 0;
  for (std::uint32_t u = 0; u < most_threads; ++u) {
    if ((o.threads >> u & 1) == 0) continue;
    const memories& seen = o.seen[u];
    for (std::uint32_t i = seen.n; i-- > 0;) {
      if (seen.of[i].event <= clocks_[thread][u]) {
        newest = std::max(newest, seen.of[i].at);
        break;
      }
    }
  }
  return newest;
}

void memory_model::remember(std::uint32_t thread, object& o, place at) noexcept {
  memories& seen = o.seen[thread];
  if ((o.threads >> thread & 1) == 0) {
    o.threads |= 1U << thread;
    seen.n = 0;
  }
  if (seen.n != 0 && seen.of[seen.n - 1].at >= at) return;
  if (seen.n == longest_memory) {
    // Forgets the oldest event and says that what the next one saw was seen then: stronger, never weaker.
    const std::uint32_t earliest = seen.of[0].event;
    std::move(seen.of.begin() + 1, seen.of.end(), seen.of.begin());
    seen.of[0].event = earliest;
    --seen.n;
  }
  seen.of[seen.n++] = {clocks_[thread][thread], at};
}

std::size_t memory_model::oldest_readable(std::uint32_t thread, const object& o, std::memory_order order) const {
  place least = past(thread, o);
  if (ordered(order)) least = std::max(least, o.ordered);
  std::size_t i = o.history.size() - 1;
  while (i > 0 && o.history[i - 1].at >= least) --i;
  return i;
}

void memory_model::finish_read(std::uint32_t thread, object& o, std::size_t position, std::memory_order order) {
  const message& m = o.history[position];
  if (acquires(order) && m.releases) merge(clocks_[thread], m.released);
  // Not of what the thread itself has stored by a weaker operation: it may read that before anybody else can.
  if (ordered(order) && m.weakly_by != thread) o.ordered = std::max(o.ordered, m.at);
  remember(thread, o, m.at);
}

memory_model::outcome memory_model::load(std::uint32_t thread, word& at, std::memory_order order) {
  object& o = find(thread, at);
  const std::size_t oldest = oldest_readable(thread, o, order);
  const std::size_t newest = o.history.size() - 1;
  const std::size_t age = oldest == newest ? 0 : choices_->pick(static_cast<std::uint32_t>(newest - oldest + 1));
  finish_read(thread, o, newest - age, order);
  return {.value = o.history[newest - age].value, .object = o.number, .age = static_cast<std::uint32_t>(age)};
}

void memory_model::insert(std::uint32_t thread, object& o, std::size_t position, word value, std::memory_order order,
                          const message* read, word& at) {
  message m{.value = value, .at = 0, .modified = false, .releases = releases(order), .released = {}};
  if (m.releases) m.released = clocks_[thread];
  if (read != nullptr && read->releases) {
    merge(m.released, read->released);
    m.releases = true;
  }
  if (read == nullptr && !ordered(order)) m.weakly_by = thread;
  const bool last = position == o.history.size();
  const place before = o.history[position - 1].at;
  m.at = last ? before + gap : before + (o.history[position].at - before) / 2;
  if (ordered(order)) o.ordered = std::max(o.ordered, m.at);
  remember(thread, o, m.at);
  o.history.insert(o.history.begin() + static_cast<std::ptrdiff_t>(position), m);
  if (last) at = value;
  if (o.history.size() > longest_history) o.history.erase(o.history.begin());
}

memory_model::outcome memory_model::store(std::uint32_t thread, word& at, word value, std::memory_order order) {
  object& o = find(thread, at);
  const std::size_t size = o.history.size();
  std::size_t position = size;
  const std::size_t first = oldest_readable(thread, o, order) + 1;
  // A place before another's store: not between a read-modify-write and what it read, and not where no room is left.
  const auto possible = [&](std::size_t p) {
    return !o.history[p - 1].modified && o.history[p].at - o.history[p - 1].at > 1;
  };
  while (position > first && possible(position - 1) && choices_->happens(rarity::early_store)) --position;
  insert(thread, o, position, value, order, nullptr, at);
  return {.value = value, .object = o.number, .age = static_cast<std::uint32_t>(size - position)};
}

memory_model::outcome memory_model::modify_at(std::uint32_t thread, object& o, word& at, std::size_t position,
                                              word value, std::memory_order order) {
  finish_read(thread, o, position, order);
  o.history[position].modified = true;
  const message read = o.history[position];
  const auto age = static_cast<std::uint32_t>(o.history.size() - 1 - position);
  insert(thread, o, position + 1, value, order, &read, at);
  return {.value = read.value, .object = o.number, .age = age};
}

memory_model::outcome memory_model::modify(std::uint32_t thread, word& at, modification by, word operand,
                                           std::memory_order order) {
  object& o = find(thread, at);
  const std::size_t oldest = oldest_readable(thread, o, order);
  std::size_t position = o.history.size() - 1;
  if (position > oldest && !o.history[position - 1].modified && choices_->happens(rarity::early_store)) --position;
  return modify_at(thread, o, at, position, by(o.history[position].value, operand), order);
}

memory_model::outcome memory_model::compare_exchange(std::uint32_t thread, word& at, word expected, word desired,
                                                     world::exchange_orders orders) {
  object& o = find(thread, at);
  const std::size_t newest = o.history.size() - 1;
  // As a load it may read an old value and fail; as a read-modify-write it needs one that no other has read.
  const std::size_t oldest = oldest_readable(thread, o, orders.failure);
  std::size_t position = newest;
  if (oldest != newest) position = newest - choices_->pick(static_cast<std::uint32_t>(newest - oldest + 1));
  if (o.history[position].value == expected &&
      (o.history[position].modified || position < oldest_readable(thread, o, orders.success))) {
    position = newest;
  }
  if (o.history[position].value == expected) {
    return modify_at(thread, o, at, position, desired, orders.success);
  }
  finish_read(thread, o, position, orders.failure);
  return {.value = o.history[position].value,
          .object = o.number,
          .age = static_cast<std::uint32_t>(newest - position),
          .succeeded = false};
}

void memory_model::synchronize(std::uint32_t thread, word& at, std::memory_order order) {
  object& o = find(thread, at);
  modify_at(thread, o, at, o.history.size() - 1, at, order);
}

std::uint32_t memory_model::look(std::uint32_t thread, word& at) {
  object& o = find(thread, at);
  finish_read(thread, o, o.history.size() - 1, std::memory_order_relaxed);
  return o.number;
}

memory_model::clock memory_model::tell(std::uint32_t thread) noexcept {
  ++clocks_[thread][thread];
  return clocks_[thread];
}

void memory_model::learn(std::uint32_t thread, const clock& told) noexcept { merge(clocks_[thread], told); }

bool memory_model::catch_up(std::uint32_t thread, std::uint32_t number) noexcept {
  object& o = objects_[number];
  if (o.address == nullptr || past(thread, o) >= o.history.back().at) return false;
  remember(thread, o, o.history.back().at);
  return true;
}

memory_model::plain& memory_model::find_plain(const void* at) {
  bool fresh = false;
  plain& p = plains_.obtain(at, fresh);
  if (fresh || p.address == nullptr) {
    p.address = at;
    p.writer = most_threads;
    p.readers = 0;
  }
  return p;
}

// A plain access is dated one event after the thread's last operation on an atomic object, because only what a thread
// releases after the access tells another one of it.

bool memory_model::read(std::uint32_t thread, const void* at) {
  plain& p = find_plain(at);
  const clock& past = clocks_[thread];
  if (p.writer != most_threads && p.writer != thread && p.written > past[p.writer]) return false;
  p.readers |= 1U << thread;
  p.read[thread] = past[thread] + 1;
  return true;
}

bool memory_model::write(std::uint32_t thread, const void* at) {
  plain& p = find_plain(at);
  const clock& past = clocks_[thread];
  if (p.writer != most_threads && p.writer != thread && p.written > past[p.writer]) return false;
  for (std::uint32_t u = 0; u < most_threads; ++u) {
    if (u != thread && (p.readers >> u & 1) != 0 && p.read[u] > past[u]) return false;
  }
  p.readers = 0;
  p.writer = thread;
  p.written = past[thread] + 1;
  return true;
}

void memory_model::forget(const void* at, std::size_t bytes) noexcept {
  if (bytes <= sizeof(word)) {
    if (object* const o = objects_.find(at)) o->address = nullptr;
    if (plain* const p = plains_.find(at)) p->address = nullptr;
    return;
  }
  const auto* const first = static_cast<const std::byte*>(at);
  const auto inside = [&](const void* address) {
    const auto* const a = static_cast<const std::byte*>(address);
    return address != nullptr && a >= first && a < first + bytes;
  };
  for (std::uint32_t i = 0; i < objects_.size(); ++i) {
    if (inside(objects_[i].address)) objects_[i].address = nullptr;
  }
  for (std::uint32_t i = 0; i < plains_.size(); ++i) {
    if (inside(plains_[i].address)) plains_[i].address = nullptr;
  }
}

}  // namespace filch::platform::vm
