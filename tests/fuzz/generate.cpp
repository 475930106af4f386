#include <algorithm>
#include <array>
#include <cmath>

#include <filch/combinations.hpp>

#include "program.hpp"

namespace filch::fuzz {

std::uint64_t dice::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  return mix(state_, 0);
}

namespace {

constexpr int ranks = 3;
constexpr int deepest = 6;

class generator {
 public:
  generator(std::uint64_t seed, const size_limits& most) : dice_(seed), most_(most), left_(most.statements) {
    p_.seed = seed;
  }

  program run() {
    choose_schedulers();
    left_ = 3 + dice_.below(most_.statements - 2);
    work_ = most_.work;
    p_.body = some(1 + dice_.below(3), 0);
    if (p_.seed % 5 == 0 || p_.seed % 7 == 0) add_hints(p_.body);
    if (p_.seed % 4 == 0 || p_.seed % 20 == 1) add_dependencies(p_.body);
    return std::move(p_);
  }

 private:
  /// Numbers of programs mean what they meant before there were others.
  static constexpr int first_policies = 9;

  /// Of their own dice, so that the rest of a program is what it was before there were hints.
  void add_hints(block& statements) const {
    for (node& n : statements) {
      const auto drawn = static_cast<int>(mix(p_.seed, static_cast<std::uint64_t>(n.id)) % 128);
      if (n.what == kind::fork || n.what == kind::run || n.what == kind::loop || n.what == kind::reduce) {
        n.hint = drawn < 64 ? drawn % (n.what == kind::fork ? 64 : 8) : 0;
      }
      for (block& part : n.parts) add_hints(part);
    }
  }

  /// Some forks and loops become what waits for futures, items or other tasks instead, and some work blocks; of their
  /// own dice likewise.
  void add_dependencies(block& statements) const {
    for (node& n : statements) {
      const auto drawn = static_cast<int>(mix(~p_.seed, static_cast<std::uint64_t>(n.id)) % 1024);
      const int low = drawn % 16;
      const int high = drawn / 16;
      if (n.what == kind::work) n.flag = low < 3;
      if (n.what == kind::fork && n.count == 0 && low < 8) {
        n = {.what = kind::futures,
             .id = n.id,
             .grain = high / 6 % 2,
             .way = high % 3,
             .flag = high / 3 % 2 == 0,
             .parts = std::move(n.parts)};
      } else if (n.what == kind::loop && low < 5) {
        n = {.what = kind::pipe,
             .id = n.id,
             .count = n.count,
             .grain = 1 + high / 9,
             .way = high % 9,
             .parts = std::move(n.parts)};
      } else if (n.what == kind::loop && low < 10) {
        n = {.what = kind::graph,
             .id = n.id,
             .count = n.count,
             .chain = 1 + high % 2,
             .grain = 1 + high / 2 % 8,
             .parts = std::move(n.parts)};
      }
      for (block& part : n.parts) add_dependencies(part);
    }
  }

  void divide(options& o) const {
    o.policy = p_.seed % 2 == 0 ? "adws" : "adws_nosteal";
    if (p_.seed % 20 < 10) o.join = "migrated";
    o.loop = {};
    o.steal_half = o.push_half = false;
    o.deal_interval_ns = {};
    if (o.policy == "adws_nosteal") o.interrupt_after_ns = {};
  }

  static void repeat(options& o) {
    o.policy = "constrained";
    o.loop = {};
    o.steal_half = o.push_half = false;
    o.deal_interval_ns = {};
  }

  void choose_schedulers() {
    const int many = dice_.one_in(4) ? 2 : 1;
    for (int k = 0; k < many; ++k) {
      const combination& c = combinations()[static_cast<std::size_t>(dice_.below(first_policies))];
      options o;
      // Two processors see most of what several do; one worker is a case of its own.
      o.workers = std::min(most_.threads, dice_.one_in(8)   ? 1
                                          : dice_.one_in(3) ? 3 + dice_.below(14)
                                                            : 2 + dice_.below(3));
      o.policy = c.policy;
      o.join = c.joins[static_cast<std::size_t>(dice_.below(int(c.joins.size())))];
      o.loop = name_of(c.loops[static_cast<std::size_t>(dice_.below(int(c.loops.size())))]);
      o.steal_half = dice_.one_in(3) && o.policy != "chase_lev" && !o.policy.starts_with("lazy_");
      o.push_half = dice_.one_in(3) && o.policy.starts_with("lazy_");
      const bool interruptible = o.policy != "chase_lev" && !o.policy.starts_with("lazy_");
      if (interruptible) o.interrupt_after_ns = dice_.one_in(3) ? 20'000 : 0;
      if (o.policy == "sender" && dice_.one_in(2)) o.deal_interval_ns = 1'000;
      o.stack_bytes = dice_.one_in(3) ? 4096 : dice_.one_in(3) ? 16384 : options{}.stack_bytes;
      if (p_.seed % 5 == 0) divide(o);
      if (p_.seed % 10 == 1) repeat(o);
      p_.schedulers.push_back(o);
    }
  }

  node make(kind what) { return {.what = what, .id = p_.ids++}; }

  /// Seldom much: up to `most`, each power of two as likely as the next, within what work is left.
  int count(int most, bool inside_loop) {
    const int top = std::max(1, std::min(most, inside_loop ? 8 : work_));
    const int bits = dice_.below(static_cast<int>(std::log2(top)) + 1);
    return 1 + dice_.below(std::min(top, 2 << bits));
  }

  block some(int statements, int depth) {
    block all;
    for (int k = 0; k < statements && left_ > 0; ++k) all.push_back(one(depth));
    return all;
  }
  block part(int depth) { return some(1 + dice_.below(3), depth + 1); }

  node work() {
    node n = make(kind::work);
    // In a loop it is done often.
    const int longest = std::max(1, static_cast<int>(std::int64_t{200} * work_ / most_.work));
    n.count = dice_.one_in(2) ? 0 : std::min(longest, dice_.one_in(4) ? 100 : 1 + dice_.below(20));
    return n;
  }

  node one(int depth) {
    --left_;
    if (depth > deepest) return work();
    if (!groups_.empty() && !dice_.one_in(3)) return about_group(depth);
    switch (dice_.below(24)) {
      case 0:
      case 1:
        return work();
      case 2: {
        node n = make(kind::toss);
        n.count = dice_.one_in(2) ? -1 : dice_.below(6);
        return n;
      }
      case 3:
      case 4:
      case 5:
        return fork(depth);
      case 6:
      case 7:
      case 8:
      case 9:
        return group(depth);
      case 10:
      case 11:
        return counted(dice_.one_in(3) ? kind::reduce : kind::loop, depth);
      case 12:
        return leaf_algorithm();
      case 13:
        return items(kind::bag, depth);
      case 14:
        return items(kind::adaptive, depth);
      case 15:
      case 16:
        return lock(depth);
      case 17:
        return wrapped(kind::attempt, depth);
      case 18: {
        node n = wrapped(kind::guard, depth);
        n.parts.push_back(part(depth));
        return n;
      }
      case 19: {
        node n = wrapped(kind::enter, depth);
        n.way = dice_.below(2);
        return n;
      }
      case 21:
      case 22:
        return side_by_side(depth, 2 + dice_.below(2));
      case 20: {
        if (multiplied_ != 0 || threads_) return work();  // not too many of them
        threads_ = true;
        node n = wrapped(kind::guests, depth);
        n.count = 1 + dice_.below(std::min(3, most_.threads));
        n.way = dice_.below(2);
        n.flag = dice_.one_in(4);
        return n;
      }
      default: {
        node n = make(kind::recurse);
        n.count = count(most_.recursion, multiplied_ > 1);
        n.way = dice_.below(4);
        repeated(n, n.count, depth);
        return n;
      }
    }
  }

  node fork(int depth) {
    node n = make(kind::fork);
    n.flag = dice_.one_in(3);
    if (dice_.one_in(6)) n.count = 1 + dice_.below(ranks);
    const int branches = dice_.one_in(3) ? 3 + dice_.below(2) : 2;
    for (int k = 0; k < branches; ++k) n.parts.push_back(part(depth));
    return n;
  }

  node wrapped(kind what, int depth) {
    node n = make(what);
    n.parts.push_back(part(depth));
    return n;
  }

  /// What a loop contains costs more.
  void repeated(node& n, int times, int depth) {
    const int before = work_;
    work_ = std::max(1, work_ / std::max(1, times));
    ++multiplied_;
    n.parts.push_back(work_ < 4 ? block{work()} : part(depth));
    --multiplied_;
    work_ = before;
  }

  node counted(kind what, int depth) {
    node n = make(what);
    n.count = count(400, multiplied_ > 1);
    n.way = dice_.below(11);
    n.grain = dice_.one_in(2) ? 0 : 1 + dice_.below(5);
    n.chain = dice_.below(4);
    repeated(n, n.count, depth);
    return n;
  }

  node leaf_algorithm() {
    node n = make(dice_.one_in(2) ? kind::scan : kind::sort);
    n.count = count(8000, multiplied_ > 0);
    n.grain = dice_.one_in(2) ? 0 : 1 + dice_.below(200);
    n.flag = dice_.one_in(2);
    return n;
  }

  node items(kind what, int depth) {
    node n = make(what);
    n.count = count(100, multiplied_ > 0);
    if (dice_.one_in(2)) n.chain = count(most_.chain / n.count + 1, multiplied_ > 0);
    n.way = dice_.below(6);
    n.grain = 1 + dice_.below(4);
    n.flag = dice_.one_in(2);
    if (what == kind::adaptive && dice_.one_in(2)) n.grain = 0;
    repeated(n, items_of(n), depth);
    return n;
  }

  node lock(int depth) {
    node n = make(kind::lock);
    n.count = 1 + dice_.below(ranks);
    n.parts.push_back(part(depth));
    return n;
  }

  node group(int depth) {
    node n = make(kind::group);
    const int where = dice_.below(8);
    n.way = int(std::array{place::stack, place::stack, place::stack, place::late, place::heap, place::shared,
                           place::misused, place::misused}[static_cast<std::size_t>(where)]);
    n.count = 1 + dice_.below(ranks + 1);
    n.flag = dice_.one_in(6);
    n.quiet = dice_.one_in(2);
    groups_.push_back(n.id);
    block body;
    if (n.way == int(place::late)) body.push_back(filled_in_branch(n.id, depth));
    const block more = some(2 + dice_.below(5), depth + 1);
    body.insert(body.end(), more.begin(), more.end());
    if (!dice_.one_in(3)) body.push_back(wait(n.id, depth));
    groups_.pop_back();
    n.parts.push_back(std::move(body));
    return n;
  }

  /// Groups in each other's scopes, filled and waited for in any order.
  node side_by_side(int depth, int groups) {
    node n = make(kind::group);
    n.way = dice_.one_in(4) ? int(place::heap) : int(place::stack);
    n.count = 1 + dice_.below(ranks + 1);
    n.quiet = dice_.one_in(2);
    groups_.push_back(n.id);
    const int all = static_cast<int>(groups_.size());
    block body;
    for (int k = dice_.below(3); k >= 0; --k) body.push_back(run(groups_.back(), depth + 2));
    if (groups > 1) {
      body.push_back(side_by_side(depth + 1, groups - 1));
    } else {
      for (int k = dice_.below(5); k >= 0; --k) {
        const int group = groups_[static_cast<std::size_t>(std::max(0, all - 1 - dice_.below(3)))];
        body.push_back(dice_.one_in(3) ? run(group, depth + 2) : dice_.one_in(4) ? work() : wait(group, depth));
      }
    }
    groups_.pop_back();
    n.parts.push_back(std::move(body));
    return n;
  }

  /// A branch makes the group, which outlives it.
  node filled_in_branch(int group, int depth) {
    node make_it = make(kind::make);
    make_it.group = group;
    if (dice_.one_in(4)) return make_it;
    node n = make(kind::fork);
    block first{make_it};
    for (int k = dice_.below(4); k >= 0; --k) first.push_back(run(group, depth));
    n.parts = {std::move(first), part(depth)};
    if (dice_.one_in(2)) n.count = 1 + dice_.below(ranks);
    return n;
  }

  node about_group(int depth) {
    const int group =
        groups_[groups_.size() - 1 - static_cast<std::size_t>(dice_.below(std::min(3, int(groups_.size()))))];
    switch (dice_.below(12)) {
      case 0:
      case 1:
        return wait(group, depth);
      case 4:
        return work();
      case 5:
        return dice_.one_in(2) ? fork(depth) : counted(kind::loop, depth);
      case 2: {
        node n = make(kind::cancel);
        n.group = group;
        return n;
      }
      case 3:
        return dice_.one_in(2) ? side_by_side(depth, 2) : this->group(depth);
      default:
        return run(group, depth);
    }
  }

  /// Often with something held.
  node wait(int group, int /*depth*/) {
    node n = make(kind::wait);
    n.group = group;
    if (!dice_.one_in(3)) return n;
    node held = make(kind::lock);
    held.count = 1 + dice_.below(ranks);
    held.parts = {{std::move(n)}};
    return held;
  }

  node run(int group, int depth) {
    node n = make(kind::run);
    n.group = group;
    n.way = dice_.below(5);
    n.parts.push_back(dice_.one_in(3) ? block{work(), lock(depth + 1)} : part(depth + 1));
    if (closure(n.way) >= closure::copying) n.parts.push_back(part(depth + 2));
    return n;
  }

  dice dice_;
  size_limits most_;
  int left_;
  int work_ = 0;
  int multiplied_ = 0;    ///< loops around
  bool threads_ = false;  ///< there are guests
  std::vector<int> groups_;
  program p_;
};

}  // namespace

program generate(std::uint64_t seed, const size_limits& most, const features& wanted) {
  program p = generator(seed, most).run();
  repair(p, wanted);
  return p;
}

}  // namespace filch::fuzz
