#include "minimise.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace filch::fuzz {
namespace {

/// Calls visit(block, position) for every statement, the outer ones first.
template <class Visit>
void for_all(block& statements, const Visit& visit) {
  for (std::size_t k = 0; k < statements.size(); ++k) {
    visit(statements, k);
    for (block& part : statements[k].parts) for_all(part, visit);
  }
}

int statements_of(program& p) {
  int all = 0;
  for_all(p.body, [&](block&, std::size_t) { ++all; });
  return all;
}

/// Is the count a number of something, and not a name?
bool counts(const node& n) {
  return n.what != kind::toss && n.what != kind::group && n.what != kind::lock && n.what != kind::fork;
}

/// How one statement can be made simpler, the boldest way first. False: not in that way.
bool simplify(block& in, std::size_t k, int way) {
  node& n = in[k];
  const auto put = [](int& field, int value) { return std::exchange(field, value) != value; };
  switch (way) {
    case 0:
      in.erase(in.begin() + static_cast<std::ptrdiff_t>(k));
      return true;
    case 1: {  // its parts instead
      if (n.parts.empty()) return false;
      block parts;
      for (block& part : n.parts) parts.insert(parts.end(), part.begin(), part.end());
      in.erase(in.begin() + static_cast<std::ptrdiff_t>(k));
      in.insert(in.begin() + static_cast<std::ptrdiff_t>(k), parts.begin(), parts.end());
      return true;
    }
    case 2:
      if (n.parts.size() <= (n.what == kind::fork ? 2U : 1U) || n.what == kind::guard) return false;
      n.parts.pop_back();
      return true;
    case 3:
      return counts(n) && n.count > 1 && put(n.count, 1);
    case 4:
      return counts(n) && n.count > 3 && put(n.count, n.count / 2);
    case 5:
      return counts(n) && n.count > 2 && put(n.count, n.count - 1);
    case 6:
      return put(n.chain, n.what == kind::graph ? 1 : 0);
    case 7:
      return n.chain > 1 && put(n.chain, n.chain / 2);
    case 8:
      return put(n.way, 0);
    case 9:
      return put(n.grain, n.what == kind::bag || n.what == kind::pipe || n.what == kind::graph ? 1 : 0);
    case 10:
      return std::exchange(n.flag, false);
    case 11:
      return n.what == kind::toss && put(n.count, -1);
    case 12:
      return (n.what == kind::work || n.what == kind::fork) && put(n.count, 0);
    case 13:
      return put(n.hint, 0);
    default:
      return false;
  }
}
constexpr int ways = 14;

bool simplify_options(program& p, int way) {
  const auto put = [](auto& field, const auto& value) { return std::exchange(field, value) != value; };
  options& o = p.schedulers.front();
  switch (way) {
    case 0:
      if (p.schedulers.size() == 1) return false;
      p.schedulers.pop_back();
      return true;
    case 1: {
      const options before = o;
      o = {.workers = before.workers,
           .policy = "lace",
           .join = "transitive",
           .loop = "standard",
           .interrupt_after_ns = 0,
           .stack_bytes = before.stack_bytes};
      return before.policy != "lace";
    }
    case 2:
      return o.workers > 2 && put(o.workers, 2);
    case 3:
      return o.workers > 2 && put(o.workers, o.workers - 1);
    case 4:
      return put(o.stack_bytes, options{}.stack_bytes);
    case 5:
      return put(o.steal_half, false);
    case 6:
      return o.interrupt_after_ns && put(o.interrupt_after_ns, std::optional<std::int64_t>(0));
    case 7:
      return put(o.join, std::string("transitive"));
    case 8:
      return put(o.push_half, false);
    default:
      return false;
  }
}
constexpr int option_ways = 9;

}  // namespace

program minimise(program p, const features& wanted, const std::function<bool(const program&)>& fails,
                 std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::set<std::string> tried{print(p)};
  const auto accept = [&](program candidate) {
    repair(candidate, wanted);
    if (std::chrono::steady_clock::now() > until || !tried.insert(print(candidate)).second || !fails(candidate))
      return false;
    p = std::move(candidate);
    return true;
  };
  for (bool better = true; better && std::chrono::steady_clock::now() < until;) {
    better = false;
    for (int way = 0; way < option_ways; ++way) {
      program candidate = p;
      if (simplify_options(candidate, way)) better = accept(std::move(candidate)) || better;
    }
    for (int way = 0; way < ways; ++way) {
      for (int which = 0; which < statements_of(p); ++which) {
        program candidate = p;
        bool changed = false;
        int at = 0;
        // The statement is found anew in the copy. After the change the walk is over, for it changes the tree.
        const auto find = [&](const auto& self, block& in) -> bool {
          for (std::size_t k = 0; k < in.size(); ++k) {
            if (at++ == which) {
              changed = simplify(in, k, way);
              return true;
            }
            for (block& part : in[k].parts) {
              if (self(self, part)) return true;
            }
          }
          return false;
        };
        find(find, candidate.body);
        if (changed && accept(std::move(candidate))) {
          better = true;
          --which;  // another one is there now
        }
      }
    }
  }
  return p;
}

}  // namespace filch::fuzz
