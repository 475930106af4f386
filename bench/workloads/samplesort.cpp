// samplesort: PBBS's sample sort of doubles, as in the private-deques paper (Acar, Charguéraud, Rainey 2013, Section
// 5).
//
// Blocks of about 2 sqrt(n) numbers are sorted. A sample of them gives sqrt(n) / 2 buckets, and each block's numbers
// are cut into one segment for each bucket. Once the lengths of all segments are known, the segments are moved to where
// their buckets will be, and each bucket is sorted. What moves is a matrix of segments that is transposed; it is halved
// along its longer side until a part fits into the cache.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

using doubles = std::span<double>;

constexpr std::size_t sort_base = 16384;  // at most so many numbers are sorted by the standard library, without forking
constexpr std::size_t oversampling = 4;   // numbers of the sample for each bucket
constexpr std::size_t transpose_base = 32;
constexpr std::uint64_t seed = 240;
constexpr std::int64_t largest_size = 1'000'000'000;

vm::work compare("samplesort_compare");

void sort_serially(doubles data) {
  vm::touch(data.data(), data.size_bytes(), true);
  if (data.size() > 1) compare.done([n = static_cast<double>(data.size())] { return n * std::log2(n); });
  std::sort(data.begin(), data.end());
}

// How numbers are divided into blocks and into buckets.
struct layout {
  std::size_t block_size;
  std::size_t blocks;
  std::size_t buckets;
  std::vector<double> pivots;  // between buckets, in ascending order

  // Bucket k has the numbers from pivot k - 1 to below pivot k, but where these two are equal, all numbers like them.
  bool all_equal(std::size_t bucket) const {
    return bucket != 0 && bucket + 1 != buckets && pivots[bucket - 1] == pivots[bucket];
  }
};

// Rows of a matrix, without initial values: each element is written before it is read.
class matrix_of_positions {
 public:
  matrix_of_positions(std::size_t rows, std::size_t columns)
      : columns_(columns), values_(std::make_unique_for_overwrite<std::uint32_t[]>(rows * columns)) {}

  std::uint32_t* row(std::size_t i) { return values_.get() + i * columns_; }

 private:
  std::size_t columns_;
  std::unique_ptr<std::uint32_t[]> values_;
};

layout choose(std::span<const double> data) {
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(data.size())));
  layout chosen{.block_size = 2 * root, .blocks = 0, .buckets = root / 2, .pivots = {}};
  chosen.blocks = (data.size() + chosen.block_size - 1) / chosen.block_size;
  std::vector<double> sample(chosen.buckets * oversampling);
  random_numbers numbers(seed);
  for (double& each : sample) each = data[numbers.next() % data.size()];
  sort_serially(sample);
  for (std::size_t bucket = 1; bucket < chosen.buckets; ++bucket)
    chosen.pivots.push_back(sample[bucket * oversampling]);
  return chosen;
}

// Where in a sorted block each bucket's segment begins.
void cut(std::span<const double> block, const layout& of, std::uint32_t* begins) {
  std::size_t at = 0;
  for (std::size_t bucket = 0; bucket != of.buckets; ++bucket) {
    begins[bucket] = static_cast<std::uint32_t>(at);
    if (bucket + 1 == of.buckets) break;
    const double pivot = of.pivots[bucket];
    if (of.all_equal(bucket)) {
      while (at != block.size() && block[at] <= pivot) ++at;
    } else {
      while (at != block.size() && block[at] < pivot) ++at;
    }
  }
  begins[of.buckets] = static_cast<std::uint32_t>(block.size());
}

// Rows and columns of a matrix of segments.
struct part {
  std::size_t row_begin;
  std::size_t row_end;
  std::size_t column_begin;
  std::size_t column_end;
};

// Calls body(part) for parts that together are the whole, each small enough for its rows and columns to be at hand.
template <class Peer, class Body>
void for_each_part(const part& whole, const Body& body) {
  const std::size_t rows = whole.row_end - whole.row_begin;
  const std::size_t columns = whole.column_end - whole.column_begin;
  if (std::max(rows, columns) <= transpose_base) {
    body(whole);
    return;
  }
  part first = whole;
  part second = whole;
  if (rows >= columns) {
    first.row_end = second.row_begin = whole.row_begin + rows / 2;
  } else {
    first.column_end = second.column_begin = whole.column_begin + columns / 2;
  }
  Peer::fork_join([&] { for_each_part<Peer>(first, body); }, [&] { for_each_part<Peer>(second, body); });
}

// Sorts `data`, whose order it changes, into `sorted`, which is as large.
template <class Peer>
void sort(doubles data, doubles sorted) {
  if (data.size() <= sort_base) {
    sort_serially(data);
    std::copy(data.begin(), data.end(), sorted.begin());
    return;
  }
  const layout of = choose(data);
  const auto block_of = [&](std::size_t i) {
    const std::size_t begin = i * of.block_size;
    return data.subspan(begin, std::min(of.block_size, data.size() - begin));
  };
  matrix_of_positions begins(of.blocks, of.buckets + 1);  // of segments in their blocks, and the last one's end
  Peer::for_each_index(of.blocks, [&](std::uint64_t i) {
    sort_serially(block_of(i));
    cut(block_of(i), of, begins.row(i));
  });

  // Lengths of segments, then their places: a row for each bucket, and a column for each block.
  const part all{.row_begin = 0, .row_end = of.blocks, .column_begin = 0, .column_end = of.buckets};
  matrix_of_positions places(of.buckets, of.blocks);
  for_each_part<Peer>(all, [&](const part& p) {
    for (std::size_t block = p.row_begin; block != p.row_end; ++block) {
      const std::uint32_t* const row = begins.row(block);
      for (std::size_t bucket = p.column_begin; bucket != p.column_end; ++bucket) {
        places.row(bucket)[block] = row[bucket + 1] - row[bucket];
      }
    }
  });
  std::vector<std::uint32_t> bucket_begins(of.buckets + 1);
  Peer::for_each_index(of.buckets, [&](std::uint64_t bucket) {
    const std::uint32_t* const row = places.row(bucket);
    bucket_begins[bucket + 1] = std::accumulate(row, row + of.blocks, 0U);
  });
  std::partial_sum(bucket_begins.begin(), bucket_begins.end(), bucket_begins.begin());
  Peer::for_each_index(of.buckets, [&](std::uint64_t bucket) {
    std::uint32_t* const row = places.row(bucket);
    std::exclusive_scan(row, row + of.blocks, row, bucket_begins[bucket]);
  });

  for_each_part<Peer>(all, [&](const part& p) {
    for (std::size_t block = p.row_begin; block != p.row_end; ++block) {
      const std::uint32_t* const row = begins.row(block);
      const double* const from = data.data() + block * of.block_size;
      vm::touch(from + row[p.column_begin], (row[p.column_end] - row[p.column_begin]) * sizeof(double));
      for (std::size_t bucket = p.column_begin; bucket != p.column_end; ++bucket) {
        std::copy(from + row[bucket], from + row[bucket + 1], sorted.data() + places.row(bucket)[block]);
      }
    }
    for (std::size_t bucket = p.column_begin; bucket != p.column_end; ++bucket) {
      const std::uint32_t* const row = places.row(bucket);
      const std::uint32_t end = p.row_end == of.blocks ? bucket_begins[bucket + 1] : row[p.row_end];
      vm::touch(sorted.data() + row[p.row_begin], (end - row[p.row_begin]) * sizeof(double), true);
    }
  });
  Peer::for_each_index(of.buckets, [&](std::uint64_t bucket) {
    const std::uint32_t begin = bucket_begins[bucket];
    if (!of.all_equal(bucket)) sort_serially(sorted.subspan(begin, bucket_begins[bucket + 1] - begin));
  });
}

void fill(doubles data, key_kind kind) {
  random_keys keys(kind, data.size(), seed);
  for (double& each : data) each = static_cast<double>(keys.next() >> 11) * 0x1p-53;
}

class samplesort_instance final : public instance {
 public:
  explicit samplesort_instance(const key_size& size) : kind_(size.kind), data_(size.count), sorted_(size.count) {}

  void prepare() override {
    vm::touch(data_.data(), data_.size() * sizeof(double), true);
    fill(data_, kind_);
    std::fill(sorted_.begin(), sorted_.end(), -1.0);
  }

  void run(runner on) override {
    compare.look_up();
    with_peer(on, [&]<class Peer>() { sort<Peer>(data_, sorted_); });
  }

  std::string result() const override { return fmt::format("{:016x}", checksum(sorted_)); }

  // In order, and the same numbers equally often.
  bool verify() const override {
    if (!expected_) {
      std::vector<double> input(data_.size());
      fill(input, kind_);
      expected_ = checksum(input);
    }
    return std::is_sorted(sorted_.begin(), sorted_.end()) && checksum(sorted_) == *expected_;
  }

  std::uint64_t tasks() const override {
    if (!tasks_) {
      std::vector<double> input(data_.size());
      std::vector<double> sorted(data_.size());
      fill(input, kind_);
      tasks_ = count_tasks([&] { sort<counting_peer>(input, sorted); });
    }
    return *tasks_;
  }

 private:
  // The same for every order of the numbers.
  static std::uint64_t checksum(std::span<const double> data) {
    std::uint64_t sum = 0;
    for (const double each : data) sum += mix(std::bit_cast<std::uint64_t>(each));
    return sum;
  }

  key_kind kind_;
  std::vector<double> data_;
  std::vector<double> sorted_;
  mutable std::optional<std::uint64_t> expected_;  // the input's checksum
  mutable std::optional<std::uint64_t> tasks_;     // counted when first asked for
};

std::unique_ptr<instance> make_samplesort(std::string_view size) {
  return std::make_unique<samplesort_instance>(parse_keys({"samplesort", size, "random/3000000"}, largest_size));
}

}  // namespace

workload samplesort_workload() {
  return {"samplesort",     "sample sort of n doubles, random or with many that are equal",
          "random/3000000", {"random/3000000", "exponential/3000000", "random/100000000"},
          make_samplesort,  "random/100000"};
}

}  // namespace filch::bench
