// The rules of the public headers, and those by which the serial program cannot deadlock:
//
//  - A task locks only mutexes of a higher rank than all that are held around it. A group has a floor: its tasks lock
//    ranks from there on, and it is added to, waited for and ended where lower ones are held only. (A full stack runs
//    a task at once, so adding counts.)
//  - wait() is for whoever constructed the group, on the same activation; a group on the heap may be waited for by
//    anybody but its own tasks.
//  - Who waits for a continuation, or for several futures at once, holds nothing (filch/future.hpp).
//  - Where it is open which exception arrives, or nobody would catch it, nothing is thrown.
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <filch/bag.hpp>
#include <filch/combinations.hpp>
#include <filch/loop.hpp>

#include "program.hpp"

namespace filch::fuzz {
namespace {

constexpr int no_rank = 0;

/// How code relates to a group around it.
struct seen_group {
  const node* group;
  bool same_task = true;   ///< in the activation that constructed it
  bool sequential = true;  ///< and nothing in between that may run at several places at once
  bool member = false;     ///< in a task of it
};

struct rules {
  std::vector<seen_group> groups;
  int held = no_rank;  ///< the highest rank
  bool may_throw = true;

  [[nodiscard]] const seen_group* find(int id) const {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.group->id == id; });
    return found == groups.end() ? nullptr : &*found;
  }
  /// In a part that may run elsewhere, or, the leftmost branch, at the same time as others.
  [[nodiscard]] rules aside(bool same_task) const {
    rules in = *this;
    for (seen_group& g : in.groups) {
      g.sequential = false;
      g.same_task = g.same_task && same_task;
    }
    return in;
  }
};

bool uses(const block& statements, const std::set<kind>& any) {
  return std::any_of(statements.begin(), statements.end(), [&](const node& n) {
    if (any.contains(n.what)) return true;
    if (n.what == kind::fork && n.count != no_rank && any.contains(kind::lock)) return true;
    if (n.what == kind::group && n.way == int(place::shared) && any.contains(kind::guests)) return true;
    return std::any_of(n.parts.begin(), n.parts.end(), [&](const block& part) { return uses(part, any); });
  });
}

class repairs {
 public:
  repairs(program& p, const features& wanted) : p_(p), wanted_(wanted) {}

  void run() {
    repair_options();
    repair_block(p_.body, {});
  }

 private:
  enum class verdict : std::uint8_t { keep, drop, unwrap };

  void repair_options() {
    // A join that runs anything makes no promise about locks, nor about threads that are waited for.
    const bool promises = uses(p_.body, {kind::lock, kind::guests, kind::enter});
    for (options& o : p_.schedulers) {
      if (promises && !o.join.empty() && !has_safe_waits(o.join)) o.join = "transitive";
      if (promises && o.policy == "adws_nosteal") o.policy = "adws";  // likewise
      if (promises && o.policy == "constrained") o.policy = "lace";
      if (!wanted_.has("small_stacks")) o.stack_bytes = options{}.stack_bytes;
      if (!wanted_.has("interrupts") && o.interrupt_after_ns) o.interrupt_after_ns = 0;
    }
    loops_.clear();
    for (const options& o : p_.schedulers) {
      for (const combination& c : combinations()) {
        if (c.policy != o.policy) continue;
        if (loops_.empty()) loops_ = c.loops;
        std::erase_if(loops_,
                      [&](loop_kind k) { return std::find(c.loops.begin(), c.loops.end(), k) == c.loops.end(); });
        divides_ = divides_ || c.policy == "adws" || c.policy == "adws_nosteal" || c.policy == "constrained";
        asked_ = asked_ && c.loops.front() == loop_kind::standard;
      }
    }
  }

  void repair_block(block& statements, const rules& at) {
    block good;
    for (node& n : statements) {
      switch (repair_statement(n, at)) {
        case verdict::keep:
          good.push_back(std::move(n));
          break;
        case verdict::drop:
          break;
        case verdict::unwrap: {
          block inside = std::move(n.parts[0]);
          repair_block(inside, at);
          good.insert(good.end(), std::make_move_iterator(inside.begin()), std::make_move_iterator(inside.end()));
          break;
        }
      }
    }
    statements = std::move(good);
  }

  verdict repair_statement(node& n, const rules& at) {
    if (!wanted_.has("hints")) n.hint = 0;
    switch (n.what) {
      case kind::work:
        if (!wanted_.has("blocking")) n.flag = false;
        return verdict::keep;
      case kind::scan:
      case kind::sort:
        return wanted_.has("sorts") ? verdict::keep : verdict::drop;
      case kind::toss:
        return at.may_throw && wanted_.has("exceptions") ? verdict::keep : verdict::drop;
      case kind::fork:
        // The first branch takes the lock, and the caller, who runs it, gives it back.
        if (n.count <= at.held || divides_ || !wanted_.has("locks")) n.count = no_rank;
        for (std::size_t k = 0; k < n.parts.size(); ++k) {
          rules in = at.aside(k == 0 && !divides_);
          if (k != 0) in.held = std::max(in.held, n.count);
          repair_block(n.parts[k], in);
        }
        return wanted_.has("forks") ? verdict::keep : verdict::unwrap;
      case kind::loop:
      case kind::reduce:
        if (!wanted_.has("loops")) return verdict::unwrap;
        if (std::find(loops_.begin(), loops_.end(), loop_kind(n.way)) == loops_.end()) n.way = 0;
        return repair_parts(n, at.aside(false));
      case kind::bag:
      case kind::adaptive:
        if (!wanted_.has(n.what == kind::bag ? "bags" : "adaptive")) return verdict::unwrap;
        if (!wanted_.has("chains")) n.chain = 0;
        if (n.what == kind::bag && bag_kind(n.way) == bag_kind::standard && !asked_) n.way = 0;
        return repair_parts(n, at.aside(false));
      case kind::group:
        return repair_group(n, at);
      case kind::make: {
        const seen_group* const g = at.find(n.group);
        return g != nullptr && g->group->way == int(place::late) && g->same_task ? verdict::keep : verdict::drop;
      }
      case kind::run:
        return repair_run(n, at);
      case kind::wait:
        return repair_wait(n, at);
      case kind::cancel: {
        const seen_group* const g = at.find(n.group);
        return g != nullptr && g->group->flag && (g->sequential || g->member) ? verdict::keep : verdict::drop;
      }
      case kind::lock: {
        if (n.count <= at.held || !wanted_.has("locks")) return verdict::unwrap;
        rules in = at;
        in.held = n.count;
        return repair_parts(n, in);
      }
      case kind::attempt: {
        if (!wanted_.has("exceptions")) return verdict::unwrap;
        rules in = at;
        in.may_throw = true;
        return repair_parts(n, in);
      }
      case kind::guard: {
        repair_block(n.parts[0], at);
        if (!wanted_.has("unwinding")) return verdict::unwrap;
        rules in = at;
        in.may_throw = false;
        repair_block(n.parts[1], in);
        return verdict::keep;
      }
      case kind::enter: {
        if (p_.schedulers.size() < 2 || !wanted_.has("schedulers")) return verdict::unwrap;
        n.way %= static_cast<int>(p_.schedulers.size());
        rules in = at;
        for (seen_group& g : in.groups) g.same_task = false;
        return repair_parts(n, in);
      }
      case kind::guests: {
        if (!wanted_.has("guests")) return verdict::unwrap;
        n.way %= static_cast<int>(p_.schedulers.size());
        if (!wanted_.has("outside")) n.flag = false;
        rules in = at.aside(false);
        in.may_throw = false;
        return repair_parts(n, in);
      }
      case kind::recurse:
        if (!wanted_.has("recursion")) return verdict::unwrap;
        return repair_parts(n, at.aside(false));
      case kind::futures:
        if (!wanted_.has("futures")) return verdict::unwrap;
        n.grain %= static_cast<int>(p_.schedulers.size());
        if (at.held != no_rank) n.way = int(waiting::each);
        return repair_parts(n, at.aside(false));
      case kind::pipe:
        if (!wanted_.has("pipelines")) return verdict::unwrap;
        return repair_parts(n, at.aside(false));
      case kind::graph:
        if (!wanted_.has("graphs")) return verdict::unwrap;
        return repair_parts(n, at.aside(false));
    }
    return verdict::drop;
  }

  verdict repair_parts(node& n, const rules& in) {
    for (block& part : n.parts) repair_block(part, in);
    return verdict::keep;
  }

  /// What is added elsewhere than in the group's own block, nobody has counted.
  static void drop_hints(block& statements, int group) {
    for (node& n : statements) {
      if (n.what == kind::run && n.group == group) n.hint = 0;
      for (block& part : n.parts) drop_hints(part, group);
    }
  }

  verdict repair_group(node& n, const rules& at) {
    if (!wanted_.has("groups")) return verdict::unwrap;
    const auto where = place(n.way);
    if ((where == place::late && !wanted_.has("groups_late")) || (where == place::misused && !wanted_.has("misuse"))) {
      n.way = int(place::stack);
    }
    if ((where == place::heap || where == place::shared) && !wanted_.has("groups_heap")) n.way = int(place::stack);
    if (where == place::shared && !wanted_.has("groups_shared")) n.way = int(place::heap);
    if (!wanted_.has("cancel")) n.flag = false;
    if (place(n.way) >= place::shared) n.flag = false;
    if (n.flag || place(n.way) >= place::shared) n.quiet = true;
    n.count = std::max(n.count, at.held + 1);
    rules in = at;
    in.groups.push_back({&n});
    repair_block(n.parts[0], in);
    for (node& inner : n.parts[0]) {
      for (block& part : inner.parts) drop_hints(part, n.id);
    }
    const bool ended = !n.parts[0].empty() && n.parts[0].back().what == kind::wait && n.parts[0].back().group == n.id;
    if (!wanted_.has("destroy") && !ended) {
      node wait{.what = kind::wait, .id = p_.ids, .group = n.id};
      if (repair_statement(wait, in) == verdict::keep) {
        ++p_.ids;
        n.parts[0].push_back(wait);
      }
    }
    return verdict::keep;
  }

  verdict repair_run(node& n, const rules& at) {
    const seen_group* const g = at.find(n.group);
    if (g == nullptr || g->group->count <= at.held) return verdict::drop;
    if (!g->sequential && !wanted_.has("groups_outer")) return verdict::drop;
    if (!g->same_task && g->group->way == int(place::late)) return verdict::drop;  // is it there yet?
    if (n.parts.size() > 1) {
      rules copying = at;
      copying.groups.clear();
      repair_block(n.parts[1], copying);
      if (n.parts[1].empty() || !wanted_.has("copies")) {
        n.parts.pop_back();
        n.way = int(closure::large);
      }
    } else if (closure(n.way) >= closure::copying) {
      n.way = int(closure::large);
    }
    // What the task sees is what is around the group, since more may be gone when it runs.
    rules in;
    in.held = g->group->count - 1;
    in.may_throw = g->sequential && !g->group->quiet;
    for (const seen_group& other : at.groups) {
      in.groups.push_back({other.group, false, false, other.member || other.group == g->group});
      if (other.group == g->group) break;
    }
    repair_block(n.parts[0], in);
    return verdict::keep;
  }

  static verdict repair_wait(const node& n, const rules& at) {
    const seen_group* const g = at.find(n.group);
    if (g == nullptr || g->member || g->group->count <= at.held) return verdict::drop;
    if (!at.may_throw && !g->group->quiet) return verdict::drop;
    return g->same_task || place(g->group->way) >= place::shared ? verdict::keep : verdict::drop;
  }

  program& p_;
  const features& wanted_;
  std::vector<loop_kind> loops_;  ///< of all schedulers
  bool asked_ = true;             ///< owners of all of them can be asked for work
  bool divides_ = false;          ///< one of them gives first branches to others, or may run anything in a wait
};

}  // namespace

void repair(program& p, const features& wanted) { repairs(p, wanted).run(); }

const std::vector<std::string_view>& features::names() {
  static const std::vector<std::string_view> all{
      "forks",   "groups",    "groups_late", "groups_outer", "groups_heap", "groups_shared", "cancel",     "destroy",
      "loops",   "sorts",     "bags",        "chains",       "adaptive",    "exceptions",    "unwinding",  "schedulers",
      "guests",  "outside",   "locks",       "copies",       "recursion",   "small_stacks",  "interrupts", "hints",
      "futures", "pipelines", "graphs",      "blocking",     "misuse"};
  return all;
}

namespace {

void check_name(const std::string& name) {
  const auto& all = features::names();
  if (std::find(all.begin(), all.end(), name) != all.end()) return;
  std::string known;
  for (const std::string_view each : all) known += (known.empty() ? "" : ", ") + std::string(each);
  throw std::invalid_argument("filch_fuzz: feature '" + name + "' is unknown; use " + known);
}

}  // namespace

void features::leave_out(const std::string& name) {
  check_name(name);
  without_.insert(name);
}

void features::add(const std::string& name) {
  check_name(name);
  without_.erase(name);
}

}  // namespace filch::fuzz
