#include "interpret.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "environment.hpp"

namespace filch::fuzz {
namespace {

/// What is thrown: the identity of the execution that threw.
struct tossed {
  std::uint64_t x;
};

/// A mutex that looks whether it is one.
class guarded {
 public:
  void lock() {
    mutex_.lock();
    if (inside_.load()) fail("wrong: two hold a mutex");
    inside_.store(true);
  }
  void unlock() {
    inside_.store(false);
    mutex_.unlock();
  }

 private:
  mutex mutex_;
  plain<bool> inside_{false};
};

/// C++ stack of the calling thread since its first look in this run.
struct stack_use {
  std::uint64_t run = 0;
  std::uintptr_t high = 0;
};
thread_local stack_use used;

// Each level of the program has some frames of the interpreter and of filch. Sanitizers make them larger, and a thread
// that waits has those of a search on top.
constexpr std::uintptr_t bytes_per_level = 8 << 10;
constexpr std::uintptr_t bytes_in_any_case = 128 << 10;

struct scope;

/// Where in the program something runs.
struct at {
  const scope* scopes = nullptr;  ///< the groups around it, innermost first
  std::uint64_t x = 0;
  int i = 0;
  int parallel = 0;  ///< as in the oracle
  int tasks = 0;     ///< likewise
};

/// One task of a group: what it is to do, and what it did.
struct record {
  const node* task;
  machine* m;
  at where;
  record* next = nullptr;
  plain<std::uint64_t> value{0};
  plain<bool> ended{false};

  void perform();
};

/// A group while it is in scope.
struct scope {
  const node& what;
  const scope* outer;
  int parallel;
  int tasks;
  mutable std::atomic<record*> records{nullptr};
  mutable std::vector<const record*> in_order;           ///< those that the owner added, with nothing beside it
  mutable std::optional<task_group>* storage = nullptr;  ///< where `make` makes it
  mutable task_group* group = nullptr;

  scope(const node& n, const at& where) : what(n), outer(where.scopes), parallel(where.parallel), tasks(where.tasks) {}
  ~scope() {
    for (record* r = records.load(std::memory_order_relaxed); r != nullptr;) delete std::exchange(r, r->next);
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  /// Orders nothing: that is filch's business.
  void add(record* r) const {
    r->next = records.load(std::memory_order_relaxed);
    while (!records.compare_exchange_weak(r->next, r, std::memory_order_relaxed, std::memory_order_relaxed)) {
    }
  }
};

}  // namespace

class machine {
 public:
  machine(const program& p, const prediction& expected)
      : p_(p), expected_(expected), runs_(expected.runs.size()), sums_(expected.runs.size()), locks_(most_ranks) {
    for (const options& o : p.schedulers) schedulers_.push_back(std::make_unique<scheduler>(o));
  }

  void run();

  std::uint64_t run_block(const block& statements, const at& here);
  void ran(int id, std::uint64_t x) {
    runs_[static_cast<std::size_t>(id)].fetch_add(1, std::memory_order_relaxed);
    sums_[static_cast<std::size_t>(id)].fetch_add(x, std::memory_order_relaxed);
  }

  std::atomic<long> closures{0};  ///< that exist

 private:
  static constexpr std::size_t most_ranks = 8;

  repeated whole_{2};  ///< of all runs

  std::uint64_t run_statement(const node& n, std::uint64_t x, const at& here);
  std::uint64_t fork(const node& n, std::uint64_t x, const at& here);
  std::uint64_t loop(const node& n, std::uint64_t x, const at& here);
  std::uint64_t reduce(const node& n, std::uint64_t x, const at& here);
  static std::uint64_t scan(const node& n, std::uint64_t x);
  static std::uint64_t sort(const node& n, std::uint64_t x);
  std::uint64_t run_items(const node& n, std::uint64_t x, const at& here);
  std::uint64_t group(const node& n, std::uint64_t x, const at& here);
  void run_task(const node& n, std::uint64_t x, const at& here);
  void wait(const node& n, std::uint64_t x, const at& here);
  std::uint64_t attempt(const node& n, std::uint64_t x, const at& here);
  std::uint64_t guests(const node& n, std::uint64_t x, const at& here);
  std::uint64_t recurse(const node& n, std::uint64_t x, at here, int depth);
  std::uint64_t futures(const node& n, std::uint64_t x, const at& here);
  std::uint64_t pipe(const node& n, std::uint64_t x, const at& here);
  std::uint64_t graph(const node& n, std::uint64_t x, const at& here);

  static at inside(const at& here, std::uint64_t x, int number, int i) {
    return {here.scopes, part_of(x, number), i, here.parallel + 1, here.tasks};
  }
  static at with(at here, std::uint64_t x) {
    here.x = x;
    return here;
  }
  static const scope& scope_of(const node& n, const at& here) {
    const scope* s = here.scopes;
    while (s->what.id != n.group) s = s->outer;
    return *s;
  }
  const expectation& expected_at(std::uint64_t x, const node& n) const {
    const auto found = expected_.at.find(x);
    if (found == expected_.at.end()) fail("wrong: statement " + std::to_string(n.id) + " runs where it cannot");
    return found->second;
  }
  void look_at_stack();
  void check_counts() const;

  /// Futures that had an exception which is on its way. Whoever ended such a task may be the last to let go of its future,
  /// and with it of the exception: that nobody reads that any more, libstdc++'s count of references says, of which
  /// ThreadSanitizer knows nothing. So they are kept until the run is over.
  struct kept_futures {
    std::vector<future<>> all;
    kept_futures* next;
  };
  void keep(std::vector<future<>> failed);
  void drop_kept();

  const program& p_;
  const prediction& expected_;
  std::vector<std::unique_ptr<scheduler>> schedulers_;
  std::vector<std::atomic<std::uint64_t>> runs_;
  std::vector<std::atomic<std::uint64_t>> sums_;
  std::vector<guarded> locks_;
  std::uint64_t run_ = 0;
  std::atomic<std::uintptr_t> deepest_{0};
  std::atomic<kept_futures*> kept_{nullptr};  ///< orders nothing
};

namespace {

/// The destructor of a local object, which does something.
template <class F>
class at_exit {
 public:
  explicit at_exit(F f) : f_(std::move(f)) {}
  ~at_exit() { f_(); }
  at_exit(const at_exit&) = delete;
  at_exit& operator=(const at_exit&) = delete;

 private:
  F f_;
};

void record::perform() {
  const at_exit end([this] { ended.store(true); });
  at in = where;
  in.x = part_of(where.x, 0);
  value.store(m->run_block(task->parts[0], in));
}

/// A task as the group gets it. A copy of a `copying` one runs a part of the program.
template <std::size_t Bytes, bool NothrowMove>
class task_closure {
 public:
  explicit task_closure(record* r) : record_(r) {
    record_->m->closures.fetch_add(1, std::memory_order_relaxed);
    fill();
  }
  task_closure(const task_closure& from) : record_(from.record_) {
    if (record_->task->parts.size() > 1) {
      const std::uint64_t x = part_of(record_->where.x, copy_number);
      record_->m->run_block(record_->task->parts[1],
                            {nullptr, x, record_->where.i, record_->where.parallel, record_->where.tasks});
    }
    record_->m->closures.fetch_add(1, std::memory_order_relaxed);
    fill();
  }
  task_closure(task_closure&& from) noexcept(NothrowMove) : record_(from.record_) {
    record_->m->closures.fetch_add(1, std::memory_order_relaxed);
    fill();
  }
  task_closure& operator=(const task_closure&) = delete;
  ~task_closure() { record_->m->closures.fetch_sub(1, std::memory_order_relaxed); }

  void operator()() const {
    for (const std::byte b : padding_) {
      if (b != pattern()) fail("wrong: a closure is spoilt");
    }
    record_->perform();
  }

 private:
  [[nodiscard]] std::byte pattern() const { return static_cast<std::byte>(record_->where.x); }
  void fill() { padding_.fill(pattern()); }

  record* record_;
  std::array<std::byte, Bytes> padding_;
};

template <class F>
void add(task_group& group, F&& f, const record& r) {
  if (const int work = r.task->hint; work != 0) {
    group.run(std::forward<F>(f), work);
  } else {
    group.run(std::forward<F>(f));
  }
}

template <class Closure>
void add_copy(task_group& group, record* r) {
  const Closure c(r);
  add(group, c, *r);
}

void add_task(task_group& group, record* r) {
  using enum closure;
  switch (closure(r->task->way)) {
    case plain:
      return add(group, [r] { r->perform(); }, *r);
    case counted:
      return add(group, task_closure<8, true>(r), *r);
    case large:
      return add(group, task_closure<200, true>(r), *r);
    case copying:
      return add_copy<task_closure<8, true>>(group, r);
    case copying_large:
      return add_copy<task_closure<16, false>>(group, r);
  }
}

std::uint64_t combined(const std::vector<plain<std::uint64_t>>& values) {
  std::uint64_t all = 0;
  for (const auto& v : values) all = mix(all, v.load());
  return all;
}

}  // namespace

std::uint64_t machine::run_block(const block& statements, const at& here) {
  look_at_stack();
  std::uint64_t all = here.x;
  for (const node& n : statements) {
    const std::uint64_t x = identity(here.x, n);
    ran(n.id, x);
    all = mix(all, run_statement(n, x, here));
  }
  return all;
}

std::uint64_t machine::run_statement(const node& n, std::uint64_t x, const at& here) {
  switch (n.what) {
    case kind::work:
      if (n.flag) {
        const blocking region;
        linger(n.count);
      } else {
        linger(n.count);
      }
      return x;
    case kind::toss:
      if (n.count == -1 || n.count == here.i) throw tossed{x};
      return x;
    case kind::fork:
      return fork(n, x, here);
    case kind::loop:
      return loop(n, x, here);
    case kind::reduce:
      return reduce(n, x, here);
    case kind::scan:
      return scan(n, x);
    case kind::sort:
      return sort(n, x);
    case kind::bag:
    case kind::adaptive:
      return run_items(n, x, here);
    case kind::group:
      return group(n, x, here);
    case kind::make:
    case kind::run:
      run_task(n, x, here);
      return x;
    case kind::wait:
      wait(n, x, here);
      return x;
    case kind::cancel:
      if (task_group* const g = scope_of(n, here).group) g->cancel();
      return x;
    case kind::lock: {
      const std::lock_guard hold(locks_[static_cast<std::size_t>(n.count)]);
      return run_block(n.parts[0], with(here, part_of(x, 0)));
    }
    case kind::attempt:
      return attempt(n, x, here);
    case kind::guard: {
      const at_exit after([&] { run_block(n.parts[1], with(here, part_of(x, exit_number))); });
      return run_block(n.parts[0], with(here, part_of(x, 0)));
    }
    case kind::enter:
      return schedulers_[static_cast<std::size_t>(n.way)]->run(
          [&] { return run_block(n.parts[0], with(here, part_of(x, 0))); });
    case kind::guests:
      return guests(n, x, here);
    case kind::recurse:
      return recurse(n, x, here, n.count);
    case kind::futures:
      return futures(n, x, here);
    case kind::pipe:
      return pipe(n, x, here);
    case kind::graph:
      return graph(n, x, here);
  }
  return 0;
}

std::uint64_t machine::fork(const node& n, std::uint64_t x, const at& here) {
  std::unique_lock held(locks_[static_cast<std::size_t>(n.count)], std::defer_lock);
  const auto part = [&](int k) {
    return [this, &n, x, &here, k, &held] {
      const std::uint64_t value = run_block(n.parts[static_cast<std::size_t>(k)], inside(here, x, k, here.i));
      if (k == 0 && n.count != 0) held.lock();  // the first branch is the calling thread's
      return value;
    };
  };
  std::array<std::uint64_t, 4> v{};
  const auto into = [&](int k) { return [&v, f = part(k), k] { v[static_cast<std::size_t>(k)] = f(); }; };
  switch (n.parts.size()) {
    case 1:
      v[0] = part(0)();
      break;
    case 2:
      if (n.flag) {
        parallel_invoke(into(0), into(1));
      } else if (has_hints(n)) {
        const work hints{static_cast<double>(n.hint / 8), static_cast<double>(n.hint % 8)};
        std::tie(v[0], v[1]) = fork_join(hints, part(0), part(1));
      } else {
        std::tie(v[0], v[1]) = fork_join(part(0), part(1));
      }
      break;
    case 3:
      if (n.flag) {
        parallel_invoke(into(0), into(1), into(2));
      } else {
        std::tie(v[0], v[1], v[2]) = fork_join(part(0), part(1), part(2));
      }
      break;
    default:
      if (n.flag) {
        parallel_invoke(into(0), into(1), into(2), into(3));
      } else {
        std::tie(v[0], v[1], v[2], v[3]) = fork_join(part(0), part(1), part(2), part(3));
      }
  }
  std::uint64_t all = 0;
  for (std::size_t k = 0; k < n.parts.size(); ++k) all = mix(all, v[k]);
  return all;
}

std::uint64_t machine::loop(const node& n, std::uint64_t x, const at& here) {
  const splitting how{loop_kind(n.way), static_cast<std::size_t>(n.grain)};
  std::vector<plain<std::uint64_t>> values(static_cast<std::size_t>(n.count));
  const auto body = [&](auto i) {
    const int k = static_cast<int>(i);
    values[static_cast<std::size_t>(k)].store(run_block(n.parts[0], inside(here, x, k, k)));
  };
  const auto over = [&](const auto& way_or_hints) {
    switch (index(n.chain)) {
      case index::ints:
        return parallel_for(0, n.count, body, way_or_hints);
      case index::sizes:
        return parallel_for(std::size_t{0}, static_cast<std::size_t>(n.count), body, way_or_hints);
      case index::range:
        return parallel_for(
            blocked_range<int>(0, n.count, how.grain),
            [&](const blocked_range<int>& part) {
              for (int i = part.begin(); i != part.end(); ++i) body(i);
            },
            way_or_hints);
      case index::steps:
        return parallel_for(0, 3 * n.count, 3, [&](int i) { body(i / 3); }, how);
    }
  };
  if (has_weights(n)) {
    const std::vector<double> sums = weights_of(n);
    over(weights(sums));
  } else {
    over(how);
  }
  return combined(values);
}

std::uint64_t machine::reduce(const node& n, std::uint64_t x, const at& here) {
  const auto value = [&](int k) { return affine::of(run_block(n.parts[0], inside(here, x, k, k))); };
  const auto compose = [](const affine& f, const affine& g) { return f * g; };
  affine all;
  if (has_weights(n)) {
    const std::vector<double> sums = weights_of(n);
    all = parallel_reduce(0, n.count, affine{}, value, compose, weights(sums));
  } else {
    all = parallel_reduce(0, n.count, affine{}, value, compose, static_cast<std::size_t>(n.grain));
  }
  return mix(all.factor, all.shift);
}

std::uint64_t machine::scan(const node& n, std::uint64_t x) {
  std::vector<affine> maps;
  for (int k = 0; k < n.count; ++k) maps.push_back(affine::of(part_of(x, k)));
  parallel_inclusive_scan(
      maps.begin(), maps.end(), maps.begin(), [](const affine& f, const affine& g) { return f * g; }, affine{},
      static_cast<std::size_t>(n.grain));
  std::uint64_t all = x;
  for (const affine& f : maps) all = mix(all, mix(f.factor, f.shift));
  return all;
}

std::uint64_t machine::sort(const node& n, std::uint64_t x) {
  std::vector<std::uint64_t> numbers;
  for (int k = 0; k < n.count; ++k) numbers.push_back(part_of(x, k));
  n.flag ? parallel_stable_sort(numbers.begin(), numbers.end()) : parallel_sort(numbers.begin(), numbers.end());
  std::uint64_t all = x;
  for (const std::uint64_t v : numbers) all = mix(all, v);
  return all;
}

namespace {

/// Some items of an adaptive task.
template <class Process>
struct some_items {
  std::vector<item> items;
  const Process* process;

  bool step(std::size_t budget) {
    for (; budget != 0 && !items.empty(); --budget) {
      const item next = items.back();
      items.pop_back();
      (*process)(next, [&](item more) { items.push_back(more); });
    }
    return !items.empty();
  }
  std::optional<some_items> split() {
    if (items.size() < 2) return std::nullopt;
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
    some_items half{{items.begin(), middle}, process};
    items.erase(items.begin(), middle);
    return half;
  }
  [[nodiscard]] std::size_t size() const { return items.size(); }
};

}  // namespace

std::uint64_t machine::run_items(const node& n, std::uint64_t x, const at& here) {
  std::vector<plain<std::uint64_t>> values(static_cast<std::size_t>(items_of(n)));
  std::vector<item> roots;
  for (int k = 0; k < n.count; ++k) roots.push_back(root_of(n, k));
  const auto process = [&](const item& next, const auto& push) {
    values[static_cast<std::size_t>(next.number)].store(
        run_block(n.parts[0], inside(here, x, next.number, next.number)));
    bring(next, push);
  };
  if (n.what == kind::bag) {
    for_each_dynamic(
        roots.begin(), roots.end(),
        [&](const item& next, feeder<item>& more) { process(next, [&](item found) { more.push(found); }); },
        {bag_kind(n.way), static_cast<std::size_t>(std::max(1, n.grain))});
  } else {
    some_items<decltype(process)> all{roots, &process};
    adaptive(all,
             {.budget = static_cast<std::size_t>(n.grain), .end = n.flag ? termination::counted : termination::join});
  }
  return combined(values);
}

std::uint64_t machine::group(const node& n, std::uint64_t x, const at& here) {
  const scope own(n, here);
  std::uint64_t result = 0;
  at in = with(here, part_of(x, 0));
  in.scopes = &own;
  if (place(n.way) == place::heap || place(n.way) == place::shared) {
    const auto held = std::make_unique<task_group>(total_of(n));
    own.group = held.get();
    result = run_block(n.parts[0], in);
  } else {
    std::optional<task_group> held;
    own.storage = &held;
    if (place(n.way) != place::late) own.group = &held.emplace(total_of(n));
    result = run_block(n.parts[0], in);
  }
  const expectation& expected = expected_at(x, n);
  std::uint64_t sum = 0;
  for (const record* r = own.records.load(std::memory_order_relaxed); r != nullptr; r = r->next) sum += r->value.load();
  if (expected.known && sum != expected.result.value) {
    fail("wrong: group " + std::to_string(n.id) + " has other results than in serial code");
  }
  return mix(result, expected.known ? sum : x);
}

void machine::run_task(const node& n, std::uint64_t x, const at& here) {
  const scope& s = scope_of(n, here);
  if (n.what == kind::make && s.group == nullptr) s.group = &s.storage->emplace(total_of(s.what));
  if (n.what == kind::make || s.group == nullptr) return;
  auto* const r = new record{&n, this, {&s, x, here.i, here.parallel + 1, here.tasks + 1}};
  s.add(r);
  add_task(*s.group, r);  // may throw, and then there is no task
  if (here.parallel == s.parallel) s.in_order.push_back(r);
}

void machine::wait(const node& n, std::uint64_t x, const at& here) {
  const scope& s = scope_of(n, here);
  if (s.group == nullptr) return;
  const expectation& expected = expected_at(x, n);
  // What the group's owner has added so far. (A task of another group runs beside the owner, and cannot know.)
  std::vector<const record*> before;
  if (here.tasks == s.tasks && !s.what.flag) before = s.in_order;
  group_status status{};
  try {
    status = s.group->wait();
  } catch (const std::logic_error&) {
    if (place(s.what.way) == place::misused && here.parallel != s.parallel) return;
    throw;
  }
  if (status == group_status::complete) {
    if (expected.cancelled) fail("wrong: a cancelled group is complete");
    for (const record* r : before) {
      if (!r->ended.load()) fail("wrong: wait for group " + std::to_string(s.what.id) + " has left a task");
    }
  } else if (!expected.cancelled && !expected.perhaps) {
    fail("wrong: a group is cancelled that nobody cancelled");
  }
}

std::uint64_t machine::attempt(const node& n, std::uint64_t x, const at& here) {
  const expectation& expected = expected_at(x, n);
  const auto name = [&] { return "wrong: attempt " + std::to_string(n.id); };
  try {
    const std::uint64_t value = run_block(n.parts[0], with(here, part_of(x, 0)));
    if (expected.result.threw()) fail(name() + " catches nothing");
    if (value != expected.result.value) fail(name() + " has another result than in serial code");
    return value;
  } catch (const tossed& t) {
    if (!expected.result.threw()) fail(name() + " catches something");
    if (!expected.result.may_throw(t.x)) fail(name() + " catches another exception than in serial code");
    return expected.result.thrown.size() == 1 ? t.x : x;
  }
}

std::uint64_t machine::guests(const node& n, std::uint64_t x, const at& here) {
  std::vector<plain<std::uint64_t>> values(static_cast<std::size_t>(n.count));
  std::vector<std::unique_ptr<thread>> threads;
  for (int k = 0; k < n.count; ++k) {
    threads.push_back(std::make_unique<thread>([&, k] {
      const auto body = [&] { return run_block(n.parts[0], inside(here, x, k, k)); };
      values[static_cast<std::size_t>(k)].store(n.flag ? body()
                                                       : schedulers_[static_cast<std::size_t>(n.way)]->run(body));
    }));
  }
  for (const auto& t : threads) t->join();
  return combined(values);
}

std::uint64_t machine::recurse(const node& n, std::uint64_t x, at here, int depth) {
  here.i = depth;
  const std::uint64_t own = run_block(n.parts[0], inside(here, x, depth, depth));
  if (depth == 0) return own;
  std::uint64_t below = 0;
  const auto first = [&] { below = recurse(n, x, here, depth - 1); };
  const auto second = [&] { ran(n.id, part_of(x, sibling_number + depth)); };
  switch (shape(n.way)) {
    case shape::forks:
      fork_join(first, second);
      break;
    case shape::groups: {
      task_group group;
      group.run(first);
      group.run(second);
      group.wait();
      break;
    }
    case shape::heap_groups: {
      const auto group = std::make_unique<task_group>();
      group->run(first);
      group->run(second);
      group->wait();
      break;
    }
    case shape::loops:
      parallel_for(0, 2, [&](int i) { i == 0 ? first() : second(); });
  }
  return mix(own, below);
}

std::uint64_t machine::futures(const node& n, std::uint64_t x, const at& here) {
  scheduler& pool = *schedulers_[static_cast<std::size_t>(n.grain)];
  std::vector<plain<std::uint64_t>> values(n.parts.size());
  std::vector<future<>> all;
  all.reserve(n.parts.size());
  for (std::size_t k = 0; k < n.parts.size(); ++k) {
    const auto part = [this, &n, x, &here, &values, k] {
      values[k].store(run_block(n.parts[k], inside(here, x, static_cast<int>(k), here.i)));
    };
    const bool follows = waiting(n.way) == waiting::chain && k != 0;
    all.push_back(follows ? all.back().then(part) : pool.submit(part));
  }
  // All have to end before this frame does, whether or not one of them throws.
  switch (waiting(n.way)) {
    case waiting::each:
      for (std::size_t k = 0; k < all.size(); ++k) all[n.flag ? all.size() - 1 - k : k].wait();
      break;
    case waiting::all:
      when_all(all).wait();
      break;
    case waiting::chain:
      all.back().wait();
  }
  try {
    for (const future<>& f : all) f.get();
  } catch (...) {
    keep(std::move(all));
    throw;
  }
  return combined(values);
}

void machine::keep(std::vector<future<>> failed) {
  auto* const kept = new kept_futures{std::move(failed), kept_.load(std::memory_order_relaxed)};
  while (!kept_.compare_exchange_weak(kept->next, kept, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
}

void machine::drop_kept() {
  for (const kept_futures* k = kept_.exchange(nullptr, std::memory_order_relaxed); k != nullptr;) {
    delete std::exchange(k, k->next);
  }
}

namespace {

/// What a stage of a pipeline claims of the items inside of it, in plain memory.
class stage_check {
 public:
  explicit stage_check(order claimed) : claimed_(claimed) {}

  template <class F>
  std::uint64_t run(int item, const F& f) {
    if (claimed_ == order::parallel) return f();
    if (inside_.load()) fail("wrong: two items are in a serial stage");
    if (claimed_ == order::in_order && item < next_.load()) fail("wrong: an item comes after a later one");
    inside_.store(true);
    next_.store(item + 1);
    const at_exit leave([this] { inside_.store(false); });
    return f();
  }

 private:
  order claimed_;
  plain<bool> inside_{false};
  plain<int> next_{0};
};

template <class F>
pipeline_stage<F> stage_of(order claimed, F f) {
  switch (claimed) {
    case order::parallel:
      return parallel(std::move(f));
    case order::serial:
      return serial(std::move(f));
    case order::in_order:
      break;
  }
  return serial_in_order(std::move(f));
}

struct passing_item {
  int number;
  std::uint64_t value;
};

}  // namespace

std::uint64_t machine::pipe(const node& n, std::uint64_t x, const at& here) {
  const auto [first_order, second_order] = orders_of(n);
  stage_check first(first_order);
  stage_check second(second_order);
  std::vector<plain<std::uint64_t>> values(static_cast<std::size_t>(n.count));
  plain<int> made{0};
  pipeline(
      static_cast<std::size_t>(n.grain),
      [&]() -> std::optional<int> {
        const int item = made.load();
        if (item == n.count) return std::nullopt;
        made.store(item + 1);
        return item;
      },
      stage_of(first_order,
               [&](int item) {
                 return passing_item{
                     item, first.run(item, [&] { return run_block(n.parts[0], inside(here, x, item, item)); })};
               }),
      stage_of(second_order, [&](const passing_item& item) {
        values[static_cast<std::size_t>(item.number)].store(second.run(item.number, [&] { return item.value; }));
      }));
  return combined(values);
}

std::uint64_t machine::graph(const node& n, std::uint64_t x, const at& here) {
  std::vector<plain<std::uint64_t>> values(static_cast<std::size_t>(n.count));
  plain<int> run{0};
  task_graph tasks;
  std::vector<task_graph::node> all;
  for (int k = 0; k < n.count; ++k) {
    std::vector<int> earlier;
    std::vector<task_graph::node> after;
    for (int before = 0; before < k; ++before) {
      if (!comes_before(n, before, k)) continue;
      earlier.push_back(before);
      after.push_back(all[static_cast<std::size_t>(before)]);
    }
    const auto task = [&, k, earlier] {
      std::uint64_t sum = 0;
      for (const int before : earlier) sum += values[static_cast<std::size_t>(before)].load();
      const std::uint64_t own = run_block(n.parts[0], inside(here, x, run.load() * n.count + k, k));
      values[static_cast<std::size_t>(k)].store(mix(own, sum));
    };
    all.push_back(tasks.add(task, after));
  }
  std::uint64_t result = 0;
  for (int k = 0; k < n.chain; ++k) {
    run.store(k);
    tasks.run();
    for (const auto& v : values) result = mix(result, v.load());
  }
  return result;
}

void machine::look_at_stack() {
  if constexpr (measures_stack) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (used.run != run_) used = {run_, here};
    used.high = std::max(used.high, here);
    const std::uintptr_t deep = used.high - here;
    std::uintptr_t before = deepest_.load(std::memory_order_relaxed);
    while (before < deep && !deepest_.compare_exchange_weak(before, deep, std::memory_order_relaxed)) {
    }
  }
}

void machine::check_counts() const {
  for (std::size_t id = 0; id < runs_.size(); ++id) {
    const tally& want = expected_.runs[id];
    const std::uint64_t had = runs_[id].load(std::memory_order_relaxed);
    const std::string name = "wrong: statement " + std::to_string(id) + " ran " + std::to_string(had) + " times";
    if (had < want.least) fail(name + ", not at least " + std::to_string(want.least));
    if (had > want.most) fail(name + ", not at most " + std::to_string(want.most));
    if (want.least == want.most && sums_[id].load(std::memory_order_relaxed) != want.sum)
      fail(name + ", but not all once");
  }
}

void machine::run() {
  // A number that no other machine's run has: threads outlive machines.
  static std::atomic<std::uint64_t> all_runs{0};
  run_ = ++all_runs;
  deepest_ = 0;
  for (auto& r : runs_) r.store(0, std::memory_order_relaxed);
  for (auto& s : sums_) s.store(0, std::memory_order_relaxed);
  try {
    const auto all = [&] { return run_block(p_.body, {.x = p_.seed}); };
    const std::uint64_t value = schedulers_.front()->run([&] { return whole_.run(all); });
    if (expected_.result.threw()) fail("wrong: nothing is thrown");
    if (value != expected_.result.value) fail("wrong: another result than in serial code");
  } catch (const tossed& t) {
    if (!expected_.result.threw()) fail("wrong: something is thrown");
    if (!expected_.result.may_throw(t.x)) fail("wrong: another exception than in serial code");
  }
  drop_kept();
  check_counts();
  if (closures != 0) fail("wrong: " + std::to_string(closures) + " closures are left");
  const std::uintptr_t most = bytes_in_any_case + bytes_per_level * static_cast<std::uintptr_t>(expected_.depth);
  const bool bounded = std::none_of(p_.schedulers.begin(), p_.schedulers.end(), [](const options& o) {
    return (!o.join.empty() && !has_safe_waits(o.join)) || o.policy == "constrained";
  });
  if (bounded && deepest_ > most) {
    fail("stack: " + std::to_string(deepest_) + " bytes for a depth of " + std::to_string(expected_.depth) + " blocks");
  }
}

interpreter::interpreter(const program& p, const prediction& expected)
    : machine_(std::make_unique<machine>(p, expected)) {}
interpreter::~interpreter() = default;
void interpreter::run() { machine_->run(); }

}  // namespace filch::fuzz
