// hull: the convex hull of points in the plane by quickhull, as in the private-deques paper (Acar, Charguéraud, Rainey
// 2013, Section 5), which took it from PBBS.
//
// The points on one side of a line between two corners have a farthest one, which is a corner as well. Lines from it to
// both corners leave the points beyond the one line, those beyond the other, and all others, which are inside. Both
// halves are independent. Large ones are divided block by block: a block's points move to its ends in a scratch array,
// and once their numbers are known, they move together. On the way the farthest of each half is found.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "parse_size.hpp"
#include "plane_points.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

using points = std::span<point>;
using input = std::span<const point>;

constexpr std::size_t block = 1024;  // so many points are looked at without forking
constexpr std::uint64_t seed = 100;
constexpr std::int64_t most_points = 1'000'000'000;

vm::work test("hull_point");

// Of those points that lie to the left of a line: how many, and the farthest. Of several that are equally far the first
// from the left counts, since one between two others would be no corner.
struct outside {
  std::size_t count = 0;
  std::int64_t distance = 0;
  point farthest = {};

  void add_farthest(const point& p, std::int64_t its_distance) {
    if (its_distance < distance || its_distance == 0) return;
    if (its_distance == distance && !is_before(p, farthest)) return;
    distance = its_distance;
    farthest = p;
  }

  void add(const outside& other) {
    count += other.count;
    add_farthest(other.farthest, other.distance);
  }
};

// The points beyond the two lines of a bend.
struct halves {
  outside first;
  outside second;
};

// Three corners, clockwise: points beyond it are to the left of the line from a to b or of that from b to c.
struct bend {
  point a;
  point b;
  point c;
};

// Moves the first half upwards from `first`, and the second downwards from `second_end`. `first` may be where `from`
// is. A processor cannot foresee to which half a point belongs, so it is written to both, and only what is counted
// stays. None belongs to both: what is beyond both lines is farther from the line from a to c than b.
halves divide_block(input from, const bend& at, point* first, point* second_end) {
  vm::touch(from.data(), from.size_bytes());
  test.done(static_cast<double>(from.size()));
  halves found;
  for (const point p : from) {
    const std::int64_t beyond_first = side(at.a, at.b, p);
    const std::int64_t beyond_second = side(at.b, at.c, p);
    if (beyond_first <= 0 && beyond_second <= 0) continue;
    const bool is_first = beyond_first > 0;
    first[found.first.count] = p;
    *(second_end - 1 - found.second.count) = p;
    found.first.count += is_first ? 1 : 0;
    found.second.count += is_first ? 0 : 1;
    if (beyond_first >= found.first.distance) found.first.add_farthest(p, beyond_first);
    if (beyond_second >= found.second.distance) found.second.add_farthest(p, beyond_second);
  }
  vm::touch(first, found.first.count * sizeof(point), true);
  vm::touch(second_end - found.second.count, found.second.count * sizeof(point), true);
  return found;
}

void move_points(const point* from, std::size_t count, point* to) {
  vm::touch(from, count * sizeof(point));
  vm::touch(to, count * sizeof(point), true);
  std::copy_n(from, count, to);
}

// Moves the first half to the begin of `to`, which may be `from`, and the second half behind it with a gap of one.
// There is room for it, as the corner b itself, which is among the points, is in neither. `scratch` is as large.
template <class Peer>
halves divide(input from, const bend& at, points to, points scratch) {
  const std::size_t blocks = (from.size() + block - 1) / block;
  const auto begin_of = [&](std::size_t k) { return std::min(k * block, from.size()); };
  std::vector<halves> found(blocks);
  Peer::for_each_index(blocks, [&](std::uint64_t k) {
    const std::size_t begin = begin_of(k);
    const std::size_t end = begin_of(k + 1);
    found[k] = divide_block(from.subspan(begin, end - begin), at, scratch.data() + begin, scratch.data() + end);
  });
  halves sum;
  std::vector<std::pair<std::size_t, std::size_t>> before(blocks);  // points of both halves in earlier blocks
  for (std::size_t k = 0; k < blocks; ++k) {
    before[k] = {sum.first.count, sum.second.count};
    sum.first.add(found[k].first);
    sum.second.add(found[k].second);
  }
  Peer::for_each_index(blocks, [&](std::uint64_t k) {
    const auto& [first, second] = found[k];
    const auto& [first_before, second_before] = before[k];
    move_points(scratch.data() + begin_of(k), first.count, to.data() + first_before);
    move_points(scratch.data() + begin_of(k + 1) - second.count, second.count,
                to.data() + sum.first.count + 1 + second_before);
  });
  return sum;
}

// The same for few points, which are divided where they are.
halves divide_serially(points all, const bend& at, points scratch) {
  point* const end = scratch.data() + scratch.size();
  const halves found = divide_block(all, at, all.data(), end);
  move_points(end - found.second.count, found.second.count, all.data() + found.first.count + 1);
  return found;
}

struct found_corners {
  std::size_t count = 0;
  std::uint64_t tests = 0;  // points that were looked at on the way
};

// Leaves the corners from behind a to before c at the begin of `all`, clockwise. `all` are the points to the left of
// the line from a to c, and b is the farthest of them.
template <class Peer>
found_corners find_corners(points all, const bend& at, points scratch) {
  if (all.size() <= 1) return {all.size(), 0};
  const bool is_small = all.size() <= block;
  const auto [first, second] = is_small ? divide_serially(all, at, scratch) : divide<Peer>(all, at, all, scratch);
  const std::size_t second_begin = first.count + 1;
  const auto find_first = [&, count = first.count, farthest = first.farthest] {
    return find_corners<Peer>(all.first(count), {at.a, farthest, at.b}, scratch.first(count));
  };
  const auto find_second = [&, count = second.count, farthest = second.farthest] {
    return find_corners<Peer>(all.subspan(second_begin, count), {at.b, farthest, at.c},
                              scratch.subspan(second_begin, count));
  };
  const auto [before, after] =
      is_small ? std::tuple(find_first(), find_second()) : Peer::fork_join(find_first, find_second);
  all[before.count] = at.b;
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(second_begin), after.count,
              all.begin() + static_cast<std::ptrdiff_t>(before.count + 1));
  return {before.count + 1 + after.count, all.size() + before.tests + after.tests};
}

struct extent {
  point leftmost;
  point rightmost;
};

template <class Peer>
extent find_extent(input all) {
  const std::size_t blocks = (all.size() + block - 1) / block;
  const auto extent_of = [all](std::uint64_t k) {
    const input part = all.subspan(k * block, std::min(block, all.size() - k * block));
    vm::touch(part.data(), part.size_bytes());
    const auto [low, high] = std::minmax_element(part.begin(), part.end(), is_before);
    return extent{*low, *high};
  };
  const auto both = [](const extent& a, const extent& b) {
    return extent{is_before(b.leftmost, a.leftmost) ? b.leftmost : a.leftmost,
                  is_before(a.rightmost, b.rightmost) ? b.rightmost : a.rightmost};
  };
  return Peer::reduce(blocks, extent{all[0], all[0]}, extent_of, both);
}

struct convex_hull {
  std::vector<point> corners;
  std::uint64_t tests = 0;
};

// Clockwise from the leftmost corner. `data` and `scratch` are as large as `all` and are overwritten.
template <class Peer>
convex_hull quickhull(input all, points data, points scratch) {
  const auto [left, right] = find_extent<Peer>(all);
  if (left == right) return {{left}, 0};
  const auto [above, below] = divide<Peer>(all, {left, right, left}, data, scratch);
  const std::size_t below_begin = above.count + 1;
  const auto [upper, lower] = Peer::fork_join(
      [&, count = above.count, farthest = above.farthest] {
        return find_corners<Peer>(data.first(count), {left, farthest, right}, scratch.first(count));
      },
      [&, count = below.count, farthest = below.farthest] {
        return find_corners<Peer>(data.subspan(below_begin, count), {right, farthest, left},
                                  scratch.subspan(below_begin, count));
      });
  convex_hull found{{left}, all.size() + upper.tests + lower.tests};
  const points upper_corners = data.first(upper.count);
  const points lower_corners = data.subspan(below_begin, lower.count);
  found.corners.insert(found.corners.end(), upper_corners.begin(), upper_corners.end());
  found.corners.push_back(right);
  found.corners.insert(found.corners.end(), lower_corners.begin(), lower_corners.end());
  return found;
}

class hull_instance final : public instance {
 public:
  hull_instance(point_kind kind, std::size_t count) : kind_(kind), count_(count) {}

  void prepare() override {
    hull_ = {};
    data_.resize(count_);
    scratch_.resize(count_);
    vm::touch(all().data(), all().size() * sizeof(point), true);
  }

  void run(runner on) override {
    test.look_up();
    hull_ = with_peer(on, [&]<class Peer>() { return quickhull<Peer>(all(), data_, scratch_); });
  }

  std::string result() const override {
    return fmt::format("{} tests of points, {} corners", hull_.tests, hull_.corners.size());
  }

  bool verify() const override {
    if (expected_.empty()) expected_ = serial_hull(all());
    return hull_.corners == expected_;
  }

  std::uint64_t tasks() const override {
    if (!tasks_) {
      std::vector<point> data(count_);
      std::vector<point> scratch(count_);
      tasks_ = count_tasks([&] { quickhull<counting_peer>(all(), data, scratch); });
    }
    return *tasks_;
  }

 private:
  // Made when first asked for: sizes that are only named cost nothing.
  const std::vector<point>& all() const {
    if (all_.empty()) all_ = random_points(kind_, count_, seed);
    return all_;
  }

  point_kind kind_;
  std::size_t count_;
  mutable std::vector<point> all_;
  mutable std::vector<point> expected_;
  mutable std::optional<std::uint64_t> tasks_;
  std::vector<point> data_;
  std::vector<point> scratch_;
  convex_hull hull_;
};

std::unique_ptr<instance> make_hull(std::string_view size) {
  const size_context context{"hull", size, "uniform/10000000"};
  const std::size_t slash = size.find('/');
  const std::string_view kind = size.substr(0, slash);
  if (slash == std::string_view::npos || (kind != "uniform" && kind != "plummer")) {
    reject_size(context, "does not begin with uniform/ or plummer/");
  }
  const std::int64_t count = parse_whole(context, size.substr(slash + 1), 1, most_points);
  return std::make_unique<hull_instance>(kind == "uniform" ? point_kind::uniform : point_kind::plummer,
                                         static_cast<std::size_t>(count));
}

}  // namespace

workload hull_workload() {
  return {"hull",
          "convex hull of n points by quickhull, uniform in a disk or of a Plummer model",
          "uniform/10000000",
          {"uniform/10000000", "plummer/10000000", "uniform/100000000", "plummer/100000000"},
          make_hull,
          "uniform/300000"};
}

}  // namespace filch::bench
