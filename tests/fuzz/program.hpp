// A structured program as a tree: what the fuzzer generates, predicts, runs, shrinks and prints.
//
// A statement's fields mean different things for different kinds; the table says what. `i` is the number that the
// innermost loop, bag or recursion gives to what is inside of it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <filch/scheduler.hpp>

namespace filch::fuzz {

enum class kind : std::uint8_t {
  work,      ///< count: how long; flag: in a blocking region
  toss,      ///< throws; count: only where i is that, or -1
  fork,      ///< fork_join of the parts; flag: parallel_invoke; count: mutex from the end of the first part on, or 0
  group,     ///< a scope with a group (see place) around parts[0]; count: floor of locks; flag: cancellable; quiet
  make,      ///< makes the group, whose place is `late`
  run,       ///< a task parts[0] for the group; way: see closure; parts[1]: what copying the closure does
  wait,      ///< for the group
  cancel,    ///< the group
  loop,      ///< count, way (loop_kind), grain, chain: see index; parts[0]
  reduce,    ///< count, grain, parts[0]: its values as affine maps, composed
  scan,      ///< count, grain: of affine maps
  sort,      ///< count; flag: stable
  bag,       ///< count roots, each the first of `chain` links with a leaf each; way (bag_kind), grain: chunk; parts[0]
  adaptive,  ///< the same items; flag: counted; grain: budget
  lock,      ///< count: which mutex; held around parts[0]
  attempt,   ///< try parts[0], and catch
  guard,     ///< parts[0] in the scope of an object whose destructor runs parts[1]
  enter,     ///< way: which scheduler runs parts[0]
  guests,    ///< count threads run parts[0] in scheduler `way`; flag: in none
  recurse,   ///< count: depth; way: see shape; parts[0] at each level
  futures,  ///< submits the parts to scheduler `grain`, and gets all values; way: see waiting; flag: the last one first
  pipe,     ///< a pipeline of count items, at most grain at a time; parts[0] in the first stage; way: see orders_of
  graph,    ///< run `chain` times: a task_graph of count tasks parts[0]; grain: see comes_before
};

enum class place : std::uint8_t {
  stack,   ///< a local variable
  late,    ///< a local std::optional that `make` fills
  heap,    ///< a std::unique_ptr
  shared,  ///< the same, which other tasks wait for as well
  misused  ///< a local variable that other tasks wait for
};

enum class closure : std::uint8_t { plain, counted, large, copying, copying_large };
enum class index : std::uint8_t { ints, sizes, range, steps };
enum class shape : std::uint8_t { forks, groups, heap_groups, loops };
enum class waiting : std::uint8_t {
  each,  ///< for each future
  all,   ///< for all at once, by when_all
  chain  ///< for the last one; each part but the first is a continuation of the one before
};
enum class order : std::uint8_t { parallel, serial, in_order };

struct node;
using block = std::vector<node>;

struct node {
  kind what = kind::work;
  int id = 0;
  int group = 0;  ///< id of the group that the statement is about
  int count = 0;
  int chain = 0;
  int grain = 0;
  int way = 0;
  bool flag = false;
  bool quiet = false;  ///< of a group: its tasks throw nothing
  int hint = 0;        ///< of how much work there is; 0: none (see hints below)
  std::vector<block> parts = {};
};

struct program {
  std::uint64_t seed = 0;
  std::vector<options> schedulers;  ///< the first runs the body
  block body;
  int ids = 0;  ///< greater than all of them
};

/// What a session of the fuzzer generates: everything that has a name, but for what it was told to leave out.
class features {
 public:
  static const std::vector<std::string_view>& names();
  /// @throws std::invalid_argument for an unknown name.
  void leave_out(const std::string& name);
  void add(const std::string& name);
  [[nodiscard]] bool has(std::string_view name) const { return !without_.contains(name); }

 private:
  std::set<std::string, std::less<>> without_{"misuse"};
};

/// Everything of a program is drawn from this. (The standard's distributions differ between libraries.)
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  /// From 0 up to below n.
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t next();
  std::uint64_t state_;
};

/// How large programs become.
struct size_limits {
  int statements = 40;
  int work = 5'000;    ///< statements that run, about
  int chain = 20'000;  ///< links of items
  int recursion = 150;
  int threads = 16;  ///< workers, guests
};

/// The same number gives the same program.
program generate(std::uint64_t seed, const size_limits& most, const features& wanted);

/// Drops or mends what a program may not do by the public headers, or would deadlock in serial code as well, and what
/// is left out. Both the generator and the minimiser make what they like and have it repaired.
void repair(program& p, const features& wanted);

/// As C++, with the seed and the options.
std::string print(const program& p);

/// Spreads the bits of both: the fuzzer's hash.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15ULL + b + 0x632BE59BD9B4E019ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

/// x -> factor * x + shift: composition is associative and not commutative.
struct affine {
  std::uint64_t factor = 1;
  std::uint64_t shift = 0;

  static affine of(std::uint64_t value) { return {2 * value + 1, mix(value, 1)}; }
  /// First f, then g.
  friend affine operator*(const affine& f, const affine& g) {
    return {g.factor * f.factor, g.factor * f.shift + g.shift};
  }
};

/// Hints: of a fork of two parts, work{hint / 8, hint % 8}; of a loop or reduction, weights 0 to `hint` by turns; of a
/// task that is a statement of the group's own block, its work. The group's total is the sum of those.
inline double total_of(const node& group) {
  int total = 0;
  for (const node& n : group.parts[0]) total += n.what == kind::run && n.group == group.id ? n.hint : 0;
  return total;
}
inline bool has_weights(const node& loop) {
  return loop.hint != 0 && (loop.what == kind::reduce || (loop.way == 0 && index(loop.chain) != index::steps));
}
inline bool has_hints(const node& fork) { return fork.hint != 0 && fork.parts.size() == 2 && !fork.flag; }
inline std::vector<double> weights_of(const node& loop) {
  std::vector<double> sums{0};
  for (int i = 0; i < loop.count; ++i) sums.push_back(sums.back() + i % (loop.hint + 1));
  return sums;
}

/// Of the two stages of a pipeline.
inline std::pair<order, order> orders_of(const node& pipe) { return {order(pipe.way % 3), order(pipe.way / 3 % 3)}; }

/// In a graph, has task k to end before task later? Of the eight before it, one in grain.
inline bool comes_before(const node& graph, int k, int later) {
  return k < later && later - k <= 8 &&
         mix(static_cast<unsigned>(k), static_cast<unsigned>(later)) % static_cast<unsigned>(graph.grain) == 0;
}

/// The items of a bag or an adaptive task: link `link` of a chain, numbered so that its leaf and the next follow.
struct item {
  int number;
  int links;  ///< that follow
};
inline int items_of(const node& n) { return n.count * (2 * n.chain + 1); }
inline item root_of(const node& n, int k) { return {k * (2 * n.chain + 1), n.chain}; }
template <class Push>
void bring(const item& from, const Push& push) {
  if (from.links == 0) return;
  push(item{from.number + 2, from.links - 1});
  push(item{from.number + 1, 0});
}

}  // namespace filch::fuzz
