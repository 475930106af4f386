#include "oracle.hpp"

#include <algorithm>

namespace filch::fuzz {
namespace {

/// Under which condition something runs: only if all of the conditions around it hold.
struct condition {
  int outer = -1;
  bool must = true;
};

/// A task of a group that has been added, and run at once: the serial elision.
struct added_task {
  int condition = 0;
  outcome result;
  bool awaited_by_wait = false;  ///< else by the group's end only: a task of another group adds it, sooner or later
};

struct scope {
  const node& group;
  const scope* outer;
  int condition;
  int tasks;     ///< group tasks around it
  int parallel;  ///< constructs around it that may run at several places at once
  bool exists;
  bool cancelled = false;          ///< certainly
  bool perhaps_cancelled = false;  ///< until the next wait
  bool ever_cancelled = false;     ///< perhaps at any time
  std::vector<added_task> waiting = {};
  std::vector<added_task> ended = {};
};

struct place_in_program {
  scope* scopes = nullptr;
  std::uint64_t x = 0;
  int i = 0;
  int condition = 0;
  int tasks = 0;
  int parallel = 0;
  int depth = 0;
};

class elision {
 public:
  explicit elision(const program& p) : p_(p) { all_.runs.resize(static_cast<std::size_t>(p.ids)); }

  prediction run() {
    const int whole = under(-1, true);
    all_.result = run_block(p_.body, {.x = p_.seed, .condition = whole});
    for (const auto& [id, x, condition] : log_) {
      tally& t = all_.runs[static_cast<std::size_t>(id)];
      ++t.most;
      t.sum += x;
      if (holds(condition, -1)) ++t.least;
    }
    return std::move(all_);
  }

 private:
  struct entry {
    int id;
    std::uint64_t x;
    int condition;
  };
  using here = place_in_program;

  int under(int outer, bool must) {
    conditions_.push_back({outer, must});
    return static_cast<int>(conditions_.size()) - 1;
  }
  [[nodiscard]] bool holds(int condition, int up_to) const {
    for (int c = condition; c != up_to && c != -1; c = conditions_[static_cast<std::size_t>(c)].outer) {
      if (!conditions_[static_cast<std::size_t>(c)].must) return false;
    }
    return true;
  }
  void let_fall(int condition) { conditions_[static_cast<std::size_t>(condition)].must = false; }

  static here inside(const here& at, std::uint64_t x, int number, int i) {
    here in = at;
    in.x = part_of(x, number);
    in.i = i;
    ++in.parallel;
    return in;
  }

  outcome run_block(const block& statements, here at) {
    ++at.depth;
    all_.depth = std::max(all_.depth, at.depth);
    outcome all{.value = at.x};
    for (const node& n : statements) {
      const std::uint64_t x = identity(at.x, n);
      log_.push_back({n.id, x, at.condition});
      outcome one = run_statement(n, x, at);
      if (one.threw()) return one;
      all.value = mix(all.value, one.value);
    }
    return all;
  }

  outcome run_statement(const node& n, std::uint64_t x, const here& at) {
    switch (n.what) {
      case kind::work:
        return {x};
      case kind::toss:
        return n.count == -1 || n.count == at.i ? outcome{.thrown = {x}} : outcome{x};
      case kind::fork:
        return run_in_order(static_cast<int>(n.parts.size()), at, [&](int k, const here& in) {
          return run_block(n.parts[static_cast<std::size_t>(k)], inside(in, x, k, at.i));
        });
      case kind::loop:
        return run_in_order(n.count, at,
                            [&](int k, const here& in) { return run_block(n.parts[0], inside(in, x, k, k)); });
      case kind::guests:
        return run_in_order(n.count, at,
                            [&](int k, const here& in) { return run_block(n.parts[0], inside(in, x, k, k)); });
      case kind::reduce:
        return reduce(n, x, at);
      case kind::scan:
        return {scanned(n, x)};
      case kind::sort:
        return {sorted(n, x)};
      case kind::bag:
      case kind::adaptive:
        return run_items(n, x, at);
      case kind::group:
        return run_group(n, x, at);
      case kind::make:
        scope_of(n, at).exists = true;
        return {x};
      case kind::run:
        return run_task(n, x, at);
      case kind::wait:
        return wait(n, x, at);
      case kind::cancel:
        cancel(n, at);
        return {x};
      case kind::lock:
      case kind::enter:
        return run_block(n.parts[0], with(at, part_of(x, 0)));
      case kind::attempt: {
        const outcome result = run_block(n.parts[0], with(at, part_of(x, 0)));
        all_.at[x].result = result;
        return result.threw() ? outcome{result.thrown.size() == 1 ? result.thrown[0] : x} : result;
      }
      case kind::guard: {
        outcome result = run_block(n.parts[0], with(at, part_of(x, 0)));
        run_block(n.parts[1], with(at, part_of(x, exit_number)));
        return result;
      }
      case kind::recurse:
        return recurse(n, x, at, n.count);
      case kind::futures:
        return futures(n, x, at);
      case kind::pipe:
        return run_in_order(n.count, at,
                            [&](int k, const here& in) { return run_block(n.parts[0], inside(in, x, k, k)); });
      case kind::graph:
        return graph(n, x, at);
    }
    return {};
  }

  static here with(here at, std::uint64_t x) {
    at.x = x;
    return at;
  }

  /// Parts of which the first in order that throws decides; those after it may be left out.
  template <class Part>
  outcome run_in_order(int parts, const here& at, const Part& part) {
    outcome all;
    here in = at;
    for (int k = 0; k < parts; ++k) {
      const outcome one = part(k, in);
      if (all.threw()) continue;
      if (one.threw()) {
        all = one;
        in.condition = under(at.condition, false);
      } else {
        all.value = mix(all.value, one.value);
      }
    }
    return all;
  }

  outcome reduce(const node& n, std::uint64_t x, const here& at) {
    affine all;
    outcome result = run_in_order(n.count, at, [&](int k, const here& in) {
      outcome one = run_block(n.parts[0], inside(in, x, k, k));
      all = all * affine::of(one.value);
      return one;
    });
    if (!result.threw()) result.value = mix(all.factor, all.shift);
    return result;
  }

  /// Of several items that throw any may be the first, and all others may be left out.
  outcome run_items(const node& n, std::uint64_t x, const here& at) {
    here in = at;
    in.condition = under(at.condition, true);
    std::vector<std::uint64_t> values(static_cast<std::size_t>(items_of(n)));
    outcome all;
    std::vector<item> items;
    for (int k = 0; k < n.count; ++k) items.push_back(root_of(n, k));
    while (!items.empty()) {
      const item next = items.back();
      items.pop_back();
      const outcome one = run_block(n.parts[0], inside(in, x, next.number, next.number));
      values[static_cast<std::size_t>(next.number)] = one.value;
      all.thrown.insert(all.thrown.end(), one.thrown.begin(), one.thrown.end());
      if (!one.threw()) bring(next, [&](item more) { items.push_back(more); });
    }
    if (all.threw()) let_fall(in.condition);
    for (const std::uint64_t v : values) all.value = mix(all.value, v);
    return all;
  }

  outcome recurse(const node& n, std::uint64_t x, here at, int depth) {
    at.i = depth;
    ++at.depth;
    all_.depth = std::max(all_.depth, at.depth);
    outcome own = run_block(n.parts[0], inside(at, x, depth, depth));
    if (own.threw() || depth == 0) return own;
    const outcome below = recurse(n, x, at, depth - 1);
    const bool sibling_may_fall = below.threw() && (shape(n.way) == shape::forks || shape(n.way) == shape::loops);
    log_.push_back(
        {n.id, part_of(x, sibling_number + depth), sibling_may_fall ? under(at.condition, false) : at.condition});
    return below.threw() ? below : outcome{mix(own.value, below.value)};
  }

  /// All of them run, but for continuations of what threw.
  outcome futures(const node& n, std::uint64_t x, const here& at) {
    outcome all;
    for (int k = 0; k < static_cast<int>(n.parts.size()); ++k) {
      const outcome one = run_block(n.parts[static_cast<std::size_t>(k)], inside(at, x, k, at.i));
      if (!all.threw() && one.threw()) all = one;
      if (!all.threw()) all.value = mix(all.value, one.value);
      if (all.threw() && waiting(n.way) == waiting::chain) break;
    }
    return all;
  }

  /// What comes after a task that throws is left out, and nothing else.
  outcome graph(const node& n, std::uint64_t x, const here& at) {
    outcome all;
    for (int run = 0; run < n.chain && !all.threw(); ++run) {
      std::vector<outcome> each;
      for (int k = 0; k < n.count; ++k) {
        outcome own;
        for (int before = 0; before < k; ++before) {
          if (!comes_before(n, before, k)) continue;
          const outcome& earlier = each[static_cast<std::size_t>(before)];
          if (earlier.threw()) own.thrown = {0};
          own.value += earlier.value;
        }
        const bool is_skipped = own.threw();
        if (!is_skipped) {
          const outcome result = run_block(n.parts[0], inside(at, x, run * n.count + k, k));
          own = result.threw() ? result : outcome{mix(result.value, own.value)};
        }
        if (!is_skipped && own.threw() && !all.threw()) all = own;
        if (!all.threw()) all.value = mix(all.value, own.value);
        each.push_back(std::move(own));
      }
    }
    return all;
  }

  // Groups

  static scope& scope_of(const node& n, const here& at) {
    scope* s = at.scopes;
    while (s->group.id != n.group) s = const_cast<scope*>(s->outer);
    return *s;
  }

  outcome run_group(const node& n, std::uint64_t x, const here& at) {
    scope own{n, at.scopes, at.condition, at.tasks, at.parallel, place(n.way) != place::late};
    here in = with(at, part_of(x, 0));
    in.scopes = &own;
    outcome result = run_block(n.parts[0], in);
    if (result.threw()) {
      for (const added_task& t : own.waiting) let_fall(t.condition);
      return result;
    }
    expectation& sum = all_.at[x];
    sum.known = !n.flag;
    own.ended.insert(own.ended.end(), own.waiting.begin(), own.waiting.end());
    for (const added_task& t : own.ended) {
      if (!t.result.threw()) sum.result.value += t.result.value;
      sum.known = sum.known && holds(t.condition, own.condition);
    }
    result.value = mix(result.value, sum.known ? sum.result.value : x);
    return result;
  }

  outcome run_task(const node& n, std::uint64_t x, const here& at) {
    scope& group = scope_of(n, at);
    if (!group.exists) return {x};
    if (n.parts.size() > 1) {
      here in = with(at, part_of(x, copy_number));
      in.scopes = nullptr;
      const outcome copy = run_block(n.parts[1], in);
      if (copy.threw()) return copy;
    }
    const bool in_order = at.parallel == group.parallel;
    if (group.cancelled && in_order) return {x};
    here in = inside(at, x, 0, at.i);
    in.scopes = &group;
    in.condition = under(at.condition, true);
    ++in.tasks;
    added_task task{in.condition, run_block(n.parts[0], in), at.tasks == group.tasks};
    // What another task adds may come before or after a cancel(), and before or after the wait that ends that.
    if (group.perhaps_cancelled || group.ever_cancelled || (group.group.flag && !in_order)) let_fall(in.condition);
    group.waiting.push_back(std::move(task));
    return {x};
  }

  outcome wait(const node& n, std::uint64_t x, const here& at) {
    scope& group = scope_of(n, at);
    if (!group.exists) return {x};
    expectation& here_expected = all_.at[x];
    here_expected.perhaps = true;
    // Somebody who waits beside the owner: what is there to be waited for is not known.
    if (at.tasks != group.tasks || (place(group.group.way) >= place::shared && at.parallel != group.parallel))
      return {x};
    here_expected.cancelled = group.cancelled;
    here_expected.perhaps =
        group.perhaps_cancelled || group.ever_cancelled || (group.group.flag && at.parallel != group.parallel);
    group.cancelled = group.perhaps_cancelled = false;
    outcome result{x};
    std::vector<added_task> later;
    for (added_task& t : group.waiting) {
      if (!t.awaited_by_wait) {
        later.push_back(std::move(t));
        continue;
      }
      if (t.result.threw() && !result.threw()) result.thrown = t.result.thrown;
      group.ended.push_back(std::move(t));
    }
    group.waiting = std::move(later);
    return result;
  }

  void cancel(const node& n, const here& at) {
    scope& group = scope_of(n, at);
    if (!group.exists) return;
    for (const added_task& t : group.waiting) let_fall(t.condition);
    if (at.parallel == group.parallel) {
      group.cancelled = true;
    } else if (at.tasks <= group.tasks + 1) {
      group.perhaps_cancelled = true;
    } else {
      group.ever_cancelled = true;
    }
  }

  const program& p_;
  prediction all_;
  std::vector<condition> conditions_;
  std::vector<entry> log_;
};

}  // namespace

bool outcome::may_throw(std::uint64_t x) const { return std::find(thrown.begin(), thrown.end(), x) != thrown.end(); }

std::uint64_t scanned(const node& n, std::uint64_t x) {
  affine sum;
  std::uint64_t all = x;
  for (int k = 0; k < n.count; ++k) {
    sum = sum * affine::of(part_of(x, k));
    all = mix(all, mix(sum.factor, sum.shift));
  }
  return all;
}

std::uint64_t sorted(const node& n, std::uint64_t x) {
  std::vector<std::uint64_t> numbers;
  for (int k = 0; k < n.count; ++k) numbers.push_back(part_of(x, k));
  std::sort(numbers.begin(), numbers.end());
  std::uint64_t all = x;
  for (const std::uint64_t v : numbers) all = mix(all, v);
  return all;
}

prediction predict(const program& p) { return elision(p).run(); }

}  // namespace filch::fuzz
