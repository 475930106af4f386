// cilksort: Cilk's parallel merge sort. Four quarters are sorted in parallel, then merged in pairs, and each merge is
// divided at the median of its longer half. Short pieces are sorted and merged by the standard library. The numbers are
// random or, as the private-deques paper (Acar, Charguéraud, Rainey 2013) also has them, exponentially distributed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "counting_peer.hpp"
#include "parse_size.hpp"
#include "random.hpp"
#include "random_keys.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

using element = std::uint32_t;
using elements = std::span<element>;
using input = std::span<const element>;

constexpr std::size_t sort_base = 2048;   // at most so many elements are sorted without forking
constexpr std::size_t merge_base = 2048;  // at most so many are merged without forking
constexpr std::uint64_t seed = 20060101;
constexpr std::int64_t largest_size = 1'000'000'000;

vm::work compare("cilksort_compare");

void touch(input data, bool writes) { vm::touch(data.data(), data.size_bytes(), writes); }

// Merges two sorted ranges into `output`, whose size is the sum of theirs.
template <class Peer>
void merge(input a, input b, elements output) {
  if (output.size() <= merge_base) {
    touch(a, false);
    touch(b, false);
    touch(output, true);
    compare.done(static_cast<double>(output.size()));
    std::merge(a.begin(), a.end(), b.begin(), b.end(), output.begin());
    return;
  }
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t a_middle = a.size() / 2;
  const auto b_split = std::lower_bound(b.begin(), b.end(), a[a_middle]);
  const auto b_middle = static_cast<std::size_t>(b_split - b.begin());
  const std::size_t middle = a_middle + b_middle;
  Peer::fork_join([=] { merge<Peer>(a.first(a_middle), b.first(b_middle), output.first(middle)); },
                  [=] { merge<Peer>(a.subspan(a_middle), b.subspan(b_middle), output.subspan(middle)); });
}

// Sorts `data`; `scratch` is as large and is overwritten.
template <class Peer>
void sort(elements data, elements scratch) {
  if (data.size() <= sort_base) {
    touch(data, true);
    compare.done([n = static_cast<double>(data.size())] { return n * std::log2(n); });
    std::sort(data.begin(), data.end());
    return;
  }
  const std::size_t quarter = data.size() / 4;
  const std::size_t half = 2 * quarter;
  const std::array<std::size_t, 5> bounds = {0, quarter, half, half + quarter, data.size()};
  const auto part = [&](elements of, int begin, int end) {
    return of.subspan(bounds[begin], bounds[end] - bounds[begin]);
  };
  const auto sort_quarter = [&](int i) { sort<Peer>(part(data, i, i + 1), part(scratch, i, i + 1)); };
  const auto merge_quarters = [&](int i) {
    merge<Peer>(part(data, i, i + 1), part(data, i + 1, i + 2), part(scratch, i, i + 2));
  };
  Peer::fork_join([&] { Peer::fork_join([&] { sort_quarter(0); }, [&] { sort_quarter(1); }); },
                  [&] { Peer::fork_join([&] { sort_quarter(2); }, [&] { sort_quarter(3); }); });
  Peer::fork_join([&] { merge_quarters(0); }, [&] { merge_quarters(2); });
  merge<Peer>(part(scratch, 0, 2), part(scratch, 2, 4), data);
}

void fill(elements data, key_kind kind) {
  random_keys keys(kind, data.size(), seed);
  for (element& e : data) e = static_cast<element>(keys.next() >> 32);
}

// The same for every order of the elements.
std::uint64_t checksum(input data) {
  std::uint64_t sum = 0;
  for (const element e : data) sum += mix(e);
  return sum;
}

class cilksort_instance final : public instance {
 public:
  explicit cilksort_instance(const key_size& size) : kind_(size.kind), data_(size.count), scratch_(size.count) {
    fill(data_, kind_);
    checksum_ = checksum(data_);
  }

  void prepare() override {
    touch(data_, true);
    fill(data_, kind_);
  }

  void run(runner on) override {
    compare.look_up();
    with_peer(on, [&]<class Peer>() { sort<Peer>(data_, scratch_); });
  }

  std::string result() const override { return fmt::format("{:016x}", checksum(data_)); }
  bool verify() const override { return std::is_sorted(data_.begin(), data_.end()) && checksum(data_) == checksum_; }

  // Where merges divide depends on the input, so the forks are counted.
  std::uint64_t tasks() const override {
    if (!tasks_) {
      std::vector<element> data(data_.size());
      std::vector<element> scratch(data_.size());
      fill(data, kind_);
      tasks_ = count_tasks([&] { sort<counting_peer>(data, scratch); });
    }
    return *tasks_;
  }

 private:
  key_kind kind_;
  std::vector<element> data_;
  std::vector<element> scratch_;
  std::uint64_t checksum_ = 0;                  // of the input
  mutable std::optional<std::uint64_t> tasks_;  // counted when first asked for
};

std::unique_ptr<instance> make_cilksort(std::string_view size) {
  return std::make_unique<cilksort_instance>(parse_keys({"cilksort", size, "10000000"}, largest_size));
}

}  // namespace

workload cilksort_workload() {
  return {"cilksort",    "Cilk's parallel merge sort of n 32-bit numbers, random or with many that are equal",
          "10000000",    {"100000", "1000000", "10000000", "100000000", "exponential/10000000"},
          make_cilksort, "300000"};
}

}  // namespace filch::bench
