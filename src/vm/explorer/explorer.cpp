#include "vm/explorer/explorer.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "platform/parker.hpp"
#include "platform/thread.hpp"

namespace filch::platform::vm {
namespace {

constexpr std::int64_t a_while_ns = 60'000;
constexpr std::size_t longest_story = 40000;

std::string file_of(const site& at) {
  const std::string_view path = at.file_name();
  return std::string(path.substr(path.find_last_of('/') + 1));
}

/// That one, and no other that has been made in its place since: which memory is used again differs from run to run.
struct watched_object {
  std::uint32_t number;
  std::uint32_t begun_as;
  friend bool operator==(const watched_object&, const watched_object&) = default;
};

}  // namespace

struct explorer::thread final : fiber {
  state is = state::ready;
  /// What it has read since its last pause.
  std::vector<watched_object> watched;
  const thread* joining = nullptr;
  const mutex* wanted = nullptr;
  bool timed = false;        ///< parked until a time
  bool interrupted = false;  ///< an interrupt is on its way
  bool late = false;         ///< it cannot be on its way any longer
  bool is_handling = false;  ///< in its handler, where no other one arrives
  int node = 0;
};

struct explorer::step {
  std::uint32_t thread;
  const char* what;
  memory_model::outcome did;
  std::memory_order order;
  site from;
};

std::string_view name_of(std::memory_order order) noexcept {
  constexpr std::array<std::string_view, 6> names{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return names.at(static_cast<std::size_t>(order));
}

void check(bool holds, const std::string& what) {
  if (!holds) static_cast<explorer&>(*world::current()).fail(what);
}

void at_each_node(int nodes, const std::function<void()>& body) {
  static_cast<explorer&>(*world::current()).run_at_nodes(nodes, body);
}

explorer::explorer(bounds limits) : limits_(limits), fibers_(memory_model::most_threads, limits.stack_bytes) {}

explorer::~explorer() { fibers_.reset(); }  // while the threads are there

explorer::thread& explorer::self() noexcept { return static_cast<thread&>(fibers_.running()); }

std::optional<failure> explorer::run(const std::function<void()>& body, strategy& choices, bool tell) {
  choices_ = &choices;
  memory_.reset(choices);
  fibers_.reset();
  made_ = 0;
  running_ = 0;
  ready_.clear();
  story_.clear();
  tell_ = tell;
  failure_.reset();
  now_ns_ = 0;
  steps_ = 0;
  digest_ = 0xcbf29ce484222325ULL;
  idle_rounds_ = 0;
  letters_ = 0;
  make_nodes(1);
  {
    const presence here(*this);
    fibers_.run(make_thread(body));
  }
  all_steps_ += steps_;
  if (!failure_ && fibers_.overflowed() >= 0) {
    failure_ =
        failure{"thread " + std::to_string(fibers_.overflowed()) + " has overflowed its stack", choices.seed(), {}};
  }
  return failure_;
}

void explorer::fail(const std::string& what) {
  failure_ = failure{what, choices_->seed(), {}};
  if (tell_) failure_->story = tell_story();
  fibers_.leave();
}

// Threads

explorer::thread& explorer::make_thread(std::function<void()> body) {
  if (made_ == memory_model::most_threads) {
    fail("more than " + std::to_string(memory_model::most_threads) + " threads in one run");
  }
  if (made_ == threads_.size()) threads_.push_back(std::make_unique<thread>());
  thread& t = *threads_[made_];
  t.number = static_cast<std::uint32_t>(made_++);
  t.is = state::ready;
  t.watched.clear();
  t.joining = nullptr;
  t.timed = false;
  t.interrupted = false;
  t.late = false;
  t.is_handling = false;
  t.node = 0;
  t.body = [this, inner = std::move(body)] {
    try {
      inner();
    } catch (const std::exception& e) {
      fail(std::string("an exception left a thread: ") + e.what());
    } catch (...) {
      fail("an exception left a thread");
    }
    end_thread();
  };
  ++running_;
  fibers_.prepare(t);
  make_ready(t);
  return t;
}

void explorer::end_thread() {
  thread& t = self();
  --running_;
  for (std::size_t i = 0; i < made_; ++i) {
    if (threads_[i]->is == state::joining && threads_[i]->joining == &t) make_ready(*threads_[i]);
  }
  if (running_ == 0) fibers_.leave();
  block(state::ended);
}

fiber* explorer::start(std::function<void()> body) {
  point();
  thread& t = make_thread(std::move(body));
  t.node = self().node;
  memory_.fork(self().number, t.number);
  return &t;
}

void explorer::join(fiber& ended) {
  point();
  auto& t = static_cast<thread&>(ended);
  if (t.is != state::ended) {
    self().joining = &t;
    block(state::joining);
  }
  memory_.join(self().number, t.number);
}

void explorer::make_ready(thread& t) {
  t.is = state::ready;
  ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), t.number), t.number);
}

void explorer::go_on_with(std::size_t position) {
  thread& next = *threads_[ready_[position]];
  if (&next != &fibers_.running()) fibers_.switch_to(next);
}

void explorer::point() {
  if (++steps_ > limits_.most_steps) {
    fail("no end after " + std::to_string(limits_.most_steps) +
         " steps: threads that go on without getting anywhere\n" + describe_threads());
  }
  ++now_ns_;
  const auto current =
      static_cast<std::size_t>(std::lower_bound(ready_.begin(), ready_.end(), self().number) - ready_.begin());
  if (ready_.size() > 1) go_on_with(choices_->next(ready_, current));
  take_interrupt();
}

fiber* explorer::current_thread() { return &self(); }

bool explorer::interrupt(fiber& whom) {
  point();
  auto& t = static_cast<thread&>(whom);
  if (t.is == state::ended) return false;
  t.interrupted = true;
  return true;
}

void explorer::take_interrupt() {
  thread& t = self();
  if (!t.interrupted || t.is_handling || (!t.late && !choices_->happens(rarity::interrupt))) return;
  t.interrupted = false;
  t.late = false;
  t.is_handling = true;
  handler()();
  t.is_handling = false;
}

void explorer::block(state why) {
  thread& t = self();
  t.is = why;
  ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), t.number));
  if (ready_.empty()) pass_time();
  ++steps_;
  go_on_with(ready_.size() == 1 ? 0 : choices_->next(ready_, ready_.size()));
}

void explorer::jump() {
  now_ns_ += a_while_ns;
  for (std::size_t i = 0; i < made_; ++i) threads_[i]->late = threads_[i]->interrupted;
}

void explorer::pass_time() {
  jump();
  bool somebody = false;
  for (std::size_t i = 0; i < made_; ++i) {
    if (threads_[i]->is != state::pausing && !threads_[i]->timed) continue;
    threads_[i]->timed = false;
    make_ready(*threads_[i]);
    somebody = true;
  }
  if (!somebody) fail("every thread waits for another one\n" + describe_threads());
  if (++idle_rounds_ > limits_.most_idle_rounds) {
    fail("the threads that are awake wait for something that nobody is going to do\n" + describe_threads());
  }
}

std::string explorer::describe_threads() const {
  constexpr std::array<const char*, 6> names{"can go on",        "spins",         "is parked",
                                             "waits for a lock", "joins another", "has come to its end"};
  std::string text;
  for (std::size_t i = 0; i < made_; ++i) {
    text += "  thread " + std::to_string(i) + " " + names.at(static_cast<std::size_t>(threads_[i]->is)) + "\n";
  }
  return text;
}

// Time, parking, locks

std::int64_t explorer::now_ns() {
  if (choices_->happens(rarity::clock_jump)) jump();
  return now_ns_;
}

std::uint64_t explorer::seed(std::uint64_t stream) { return (stream + 1) * 0x9E3779B97F4A7C15ULL | 1; }

void explorer::watch(std::uint32_t object) {
  auto& watched = self().watched;
  const watched_object it{object, memory_.begun_as(object)};
  if (std::find(watched.begin(), watched.end(), it) == watched.end()) watched.push_back(it);
}

void explorer::changed(std::uint32_t object) {
  idle_rounds_ = 0;
  const watched_object it{object, memory_.begun_as(object)};
  for (std::size_t i = 0; i < made_; ++i) {
    thread& t = *threads_[i];
    if (t.is != state::pausing) continue;
    if (std::find(t.watched.begin(), t.watched.end(), it) != t.watched.end()) make_ready(t);
  }
}

void explorer::pause() {
  thread& t = self();
  // A store becomes visible in finite time: what this thread has overlooked it sees after the pause.
  bool news = false;
  for (const watched_object it : t.watched) {
    if (memory_.begun_as(it.number) == it.begun_as) news = memory_.catch_up(t.number, it.number) || news;
  }
  if (news || choices_->happens(rarity::short_pause)) {
    point();
  } else {
    block(state::pausing);
  }
  t.watched.clear();
}

void explorer::yield() { pause(); }

void explorer::park(parker& where, std::int64_t deadline_ns) {
  point();
  thread& t = self();
  if (!where.token) {
    if (choices_->happens(rarity::spurious_wake)) return;
    where.sleeper = &t;
    t.timed = deadline_ns != forever;
    block(state::parked);
    where.sleeper = nullptr;
  }
  if (where.token) memory_.synchronize(t.number, where.stamp, std::memory_order_acquire);
  where.token = false;
}

void explorer::unpark(parker& whose) {
  point();
  memory_.synchronize(self().number, whose.stamp, std::memory_order_release);
  whose.token = true;
  idle_rounds_ = 0;
  if (whose.sleeper != nullptr) {
    auto& sleeper = static_cast<thread&>(*whose.sleeper);
    whose.sleeper = nullptr;
    if (sleeper.is == state::parked) make_ready(sleeper);
    sleeper.timed = false;
  }
}

void explorer::lock(mutex& which) {
  point();
  thread& t = self();
  while (which.holder != nullptr) {
    t.wanted = &which;
    block(state::locking);
  }
  t.wanted = nullptr;
  which.holder = &t;
  memory_.synchronize(t.number, which.stamp, std::memory_order_acquire);
}

void explorer::unlock(mutex& which) {
  memory_.synchronize(self().number, which.stamp, std::memory_order_release);
  which.holder = nullptr;
  idle_rounds_ = 0;
  for (std::size_t i = 0; i < made_; ++i) {
    if (threads_[i]->is == state::locking && threads_[i]->wanted == &which) make_ready(*threads_[i]);
  }
  point();
}

// Memory

void explorer::note(const char* what, const memory_model::outcome& did, std::memory_order order, const site& from) {
  for (const std::uint64_t part :
       {std::uint64_t{self().number}, std::uint64_t{from.line()}, std::uint64_t{memory_.begun_as(did.object)},
        std::uint64_t{did.age}, std::uint64_t{did.succeeded}}) {
    digest_ = (digest_ ^ part) * 0x100000001b3ULL;
  }
  if (tell_) story_.push_back({self().number, what, did, order, from});
  if (memory_.too_early()) {
    fail("an atomic object is used before its construction has happened, in " + file_of(from) + ":" +
         std::to_string(from.line()));
  }
}

std::vector<std::string> explorer::tell_story() const {
  std::vector<std::string> lines;
  const std::size_t first = story_.size() - std::min(story_.size(), longest_story);
  for (std::size_t i = first; i < story_.size(); ++i) {
    const step& s = story_[i];
    std::string line = "thread " + std::to_string(s.thread) + "  " + file_of(s.from) + ":" +
                       std::to_string(s.from.line()) + "  " + s.what + " " + std::string(name_of(s.order)) +
                       "  object " + std::to_string(s.did.object) + " = " + std::to_string(s.did.value);
    if (!s.did.succeeded) line += "  (not as expected)";
    if (s.did.age != 0) line += "  (" + std::to_string(s.did.age) + " older than the newest)";
    lines.push_back(std::move(line));
  }
  return lines;
}

void explorer::begin(word& at) { memory_.begin(self().number, at); }

void explorer::forget(const void* at, std::size_t bytes) { memory_.forget(at, bytes); }

namespace {

void add(survey_of_sites* survey, const char* operation, std::memory_order order, std::memory_order failure,
         const site& from) {
  if (survey == nullptr) return;
  site_record& record = (*survey)[site_key(from)];
  record = {from.function_name(), operation, order, failure, record.times + 1};
}

}  // namespace

word explorer::load(word& at, std::memory_order order, const site& from) {
  point();
  add(survey_, "load", order, order, from);
  if (planted_ && planted_->where == site_key(from)) order = planted_->order;
  const auto did = memory_.load(self().number, at, order);
  watch(did.object);
  note("load", did, order, from);
  return did.value;
}

void explorer::store(word& at, word value, std::memory_order order, const site& from) {
  point();
  add(survey_, "store", order, order, from);
  if (planted_ && planted_->where == site_key(from)) {
    if (planted_->what == mutation::kind::drop) return;
    order = planted_->order;
  }
  const auto did = memory_.store(self().number, at, value, order);
  changed(did.object);
  note("store", did, order, from);
}

word explorer::modify(word& at, modification by, word operand, std::memory_order order, const site& from) {
  point();
  add(survey_, "modify", order, order, from);
  if (planted_ && planted_->where == site_key(from)) {
    if (planted_->what == mutation::kind::tear) {
      const word before = load(at, std::memory_order_relaxed, site{});
      store(at, by(before, operand), order, site{});
      return before;
    }
    order = planted_->order;
  }
  const auto did = memory_.modify(self().number, at, by, operand, order);
  watch(did.object);
  changed(did.object);
  note("modify", did, order, from);
  return did.value;
}

bool explorer::compare_exchange(word& at, word& expected, word desired, exchange_orders orders, bool weak,
                                const site& from) {
  point();
  add(survey_, "compare_exchange", orders.success, orders.failure, from);
  if (planted_ && planted_->where == site_key(from)) {
    if (planted_->what == mutation::kind::tear) {
      const word before = load(at, orders.failure, site{});
      const bool equal = before == expected;
      if (equal) store(at, desired, orders.success, site{});
      expected = before;
      return equal;
    }
    (planted_->what == mutation::kind::weaken_failure ? orders.failure : orders.success) = planted_->order;
  }
  if (weak && choices_->happens(rarity::spurious_failure)) {
    const auto seen = memory_.load(self().number, at, orders.failure);
    watch(seen.object);
    note("compare_exchange", {seen.value, seen.object, seen.age, false}, orders.failure, from);
    expected = seen.value;
    return false;
  }
  const auto did = memory_.compare_exchange(self().number, at, expected, desired, orders);
  watch(did.object);
  if (did.succeeded) changed(did.object);
  note("compare_exchange", did, did.succeeded ? orders.success : orders.failure, from);
  expected = did.value;
  return did.succeeded;
}

void explorer::read(const void* at, const site& from) {
  if (!memory_.read(self().number, at)) {
    fail("data race: thread " + std::to_string(self().number) + " reads in " + file_of(from) + ":" +
         std::to_string(from.line()) + " what another thread has written, and knows nothing of it");
  }
}

void explorer::write(const void* at, const site& from) {
  if (!memory_.write(self().number, at)) {
    fail("data race: thread " + std::to_string(self().number) + " writes in " + file_of(from) + ":" +
         std::to_string(from.line()) + " what another thread has used, and knows nothing of it");
  }
}

void explorer::read_local(const void* at, const site& from) {
  take_interrupt();
  read(at, from);
}

void explorer::write_local(const void* at, const site& from) {
  take_interrupt();
  write(at, from);
}

// Nodes and their network

void explorer::make_nodes(int nodes) {
  nodes_.clear();
  for (int i = 0; i < nodes; ++i) nodes_.emplace_back().from.resize(static_cast<std::size_t>(nodes));
}

void explorer::run_at_nodes(int nodes, const std::function<void()>& body) {
  make_nodes(nodes);
  std::vector<fiber*> others;
  for (int i = 1; i < nodes; ++i) {
    others.push_back(start([this, i, &body] {
      self().node = i;
      body();
    }));
  }
  body();
  for (fiber* const each : others) join(*each);
}

int explorer::node() { return self().node; }

std::uint64_t explorer::send(int to, std::vector<std::byte>&& bytes, bool wants_receipt) {
  point();
  const thread& t = self();
  node_state& there = nodes_.at(static_cast<std::size_t>(to));
  there.from[static_cast<std::size_t>(t.node)].push_back(
      {t.node, ++letters_, std::move(bytes), wants_receipt, memory_.tell(t.number)});
  const auto did = memory_.store(t.number, there.mail, letters_, std::memory_order_relaxed);
  changed(did.object);
  note("send", did, std::memory_order_release, site::current());
  return letters_;
}

std::optional<world::arrival> explorer::receive() {
  point();
  const thread& t = self();
  node_state& here = nodes_[static_cast<std::size_t>(t.node)];
  watch(memory_.look(t.number, here.mail));
  std::vector<std::deque<letter>*> next;
  for (auto& each : here.from) {
    if (!each.empty()) next.push_back(&each);
  }
  if (next.empty()) return std::nullopt;
  // Mostly the one that was sent first. The last choice is that none of them has come yet.
  std::sort(next.begin(), next.end(), [](auto* a, auto* b) { return a->front().number < b->front().number; });
  const std::uint32_t chosen = choices_->pick(static_cast<std::uint32_t>(next.size() + 1));
  if (chosen == next.size()) return std::nullopt;
  letter come = std::move(next[chosen]->front());
  next[chosen]->pop_front();
  memory_.learn(t.number, come.sent);
  if (come.wants_receipt) {
    nodes_[static_cast<std::size_t>(come.from)].received_elsewhere.push_back(come.number);
  }
  idle_rounds_ = 0;
  note("receive", {.value = come.number}, std::memory_order_acquire, site::current());
  return arrival{come.from, std::move(come.bytes)};
}

bool explorer::was_received(std::uint64_t number) {
  point();
  const auto& receipts = nodes_[static_cast<std::size_t>(self().node)].received_elsewhere;
  // A receipt may be on its way for a while.
  return std::find(receipts.begin(), receipts.end(), number) != receipts.end() && choices_->pick(2) == 0;
}

word& explorer::word_at(int node, std::size_t which) {
  return nodes_.at(static_cast<std::size_t>(node)).words.at(which);
}

// What is on its way to a word is what loads do not see yet. Messages of a pair are in order: stores release.

word explorer::load_at(int node, std::size_t which) {
  point();
  const auto did = memory_.load(self().number, word_at(node, which), std::memory_order_acquire);
  watch(did.object);
  note("load_at", did, std::memory_order_acquire, site::current());
  return did.value;
}

void explorer::store_at(int node, std::size_t which, word value) {
  point();
  const auto did = memory_.store(self().number, word_at(node, which), value, std::memory_order_release);
  changed(did.object);
  note("store_at", did, std::memory_order_release, site::current());
}

word explorer::compare_exchange_at(int node, std::size_t which, word expected, word desired) {
  point();
  const auto did = memory_.compare_exchange(self().number, word_at(node, which), expected, desired,
                                            {std::memory_order_acq_rel, std::memory_order_acquire});
  watch(did.object);
  if (did.succeeded) changed(did.object);
  note("compare_exchange_at", did, std::memory_order_acq_rel, site::current());
  return did.value;
}

}  // namespace filch::platform::vm
