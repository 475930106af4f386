// stencil_places: heat spreads in a square of n x n cells, as in heat2d, whose rows are distributed over places in equal
// blocks. Each place has memory for the whole square and touches its own rows, and one more above and below: the halo,
// which the neighbours copy from their rows.
//
// Each iteration is one finish_spmd. A place copies its first and its last row to its neighbours and meanwhile computes
// the rows that need no halo; the others follow when all copies have ended. The copies of the next iteration go to the
// other buffer, so a place may begin it while its neighbour still computes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <filch/filch.hpp>
#include <filch/places.hpp>
#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "heat_region.hpp"
#include "parse_size.hpp"

namespace filch::bench {
namespace {

constexpr int largest_n = 16384;
constexpr int usual_iterations = 20;
constexpr int most_iterations = 10'000;

vm::work cell("heat_cell");

struct stencil_size {
  int n;
  int iterations;
};

/// What all places found.
struct findings {
  std::uint64_t checksum;
  bool is_right;
};

/// Task of a neighbour: tells a place where its halo's rows are to be copied to.
struct neighbour_at {
  bool is_above;
  std::array<float*, 2> halo;
  void operator()() const;
};

class stencil_places_instance final : public instance {
 public:
  explicit stencil_places_instance(stencil_size size) : size_(size) {}

  void prepare() override {
    found_.reset();
    if (!expected_) {
      expected_.emplace(size_.n);
      expected_->begin(0, size_.n, 0, size_.n);
      for (int i = 0; i < size_.iterations; ++i) expected_->step((i + 1) % 2, 0, size_.n, 0, size_.n);
    }
    if (!region_) region_.emplace(size_.n);
    is_begun_ = false;
  }

  /// Each place its own rows; and the neighbours get to know each other.
  void begin(runner on) override {
    const bool is_distributed = on == runner::filch;
    const std::int64_t here = is_distributed ? places::here() : 0;
    const std::int64_t count = is_distributed ? places::count() : 1;
    if (count > size_.n) {
      throw std::runtime_error(fmt::format(
          "stencil_places: size '{}' has fewer rows than there are places, {}; give a larger one", size_.n, count));
    }
    first_ = static_cast<int>(here * size_.n / count);
    last_ = static_cast<int>((here + 1) * size_.n / count);
    region_->begin(first_, last_ - first_, 0, size_.n);
    has_above_ = here != 0;
    has_below_ = here + 1 != count;
    is_begun_ = true;
    if (!is_distributed) return;
    places::own_pointer() = this;
    places::finish_spmd([&] {
      const auto halo_at = [&](int row) { return std::array{region_->row(0, row), region_->row(1, row)}; };
      if (has_above_) places::async_at(places::here() - 1, neighbour_at{false, halo_at(first_ - 1)});
      if (has_below_) places::async_at(places::here() + 1, neighbour_at{true, halo_at(last_)});
    });
  }

  void run(runner on) override {
    cell.look_up();
    if (on != runner::filch) {
      for (int i = 0; i < size_.iterations; ++i) {
        for (int row = 0; row < size_.n; ++row) step_row((i + 1) % 2, row);
      }
      found_ = findings_here();
      return;
    }
    for (int i = 0; i < size_.iterations; ++i) step((i + 1) % 2);
    found_ = places::all_reduce(findings_here(), [](const findings& a, const findings& b) {
      return findings{a.checksum + b.checksum, a.is_right && b.is_right};
    });
  }

  std::string result() const override { return fmt::format("{:016x}", found_ ? found_->checksum : 0); }
  bool verify() const override { return found_ && found_->is_right; }

  // One for each row.
  std::uint64_t tasks() const override {
    return static_cast<std::uint64_t>(size_.n) * static_cast<std::uint64_t>(size_.iterations);
  }

  void learn(const neighbour_at& n) { (n.is_above ? halo_above_ : halo_below_) = n.halo; }

 private:
  void step(int to) {
    const int from = 1 - to;
    const int begin = first_ + (has_above_ ? 1 : 0);
    const int end = std::max(begin, last_ - (has_below_ ? 1 : 0));
    places::finish_spmd([&] {
      const int here = places::here();
      if (has_above_) copy_row(here - 1, halo_above_[from], region_->row(from, first_));
      if (has_below_) copy_row(here + 1, halo_below_[from], region_->row(from, last_ - 1));
      parallel_for(begin, end, [&](int row) { step_row(to, row); });
    });
    if (has_above_) step_row(to, first_);
    if (has_below_ && (last_ - first_ > 1 || !has_above_)) step_row(to, last_ - 1);
  }

  void copy_row(int to, float* halo, const float* row) const {
    // The finish waits for it.
    static_cast<void>(places::async_copy(places::global_ptr<float>{to, halo}, places::make_global(row),
                                         static_cast<std::size_t>(size_.n)));
  }

  void step_row(int to, int row) {
    const std::size_t bytes = static_cast<std::size_t>(size_.n) * sizeof(float);
    for (const int i : {-1, 0, 1}) vm::touch(region_->row(1 - to, row + i), bytes);
    vm::touch(region_->row(to, row), bytes, true);
    region_->step(to, row, 1, 0, size_.n);
    cell.done(size_.n);
  }

  // Of this place's rows. A sum over rows, so that places may be added up.
  [[nodiscard]] findings findings_here() const {
    const int buffer = size_.iterations % 2;
    const auto cells = static_cast<std::size_t>(size_.n);
    findings here{0, is_begun_};
    for (int row = first_; row < last_; ++row) {
      const float* const mine = region_->row(buffer, row);
      here.is_right = here.is_right && std::memcmp(mine, expected_->row(buffer, row), cells * sizeof(float)) == 0;
      double sum = 0;
      for (std::size_t i = 0; i < cells; ++i) sum += static_cast<double>(mine[i]);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &sum, sizeof bits);
      here.checksum += bits * static_cast<std::uint64_t>(2 * row + 1);
    }
    return here;
  }

  stencil_size size_;
  std::optional<heat_region> region_;
  std::optional<heat_region> expected_;  // by the same kernel, serially
  int first_ = 0;                        // of this place's rows
  int last_ = 0;                         // behind them
  bool has_above_ = false;
  bool has_below_ = false;
  bool is_begun_ = false;
  // Rows of neighbours, in both buffers.
  std::array<float*, 2> halo_above_{};
  std::array<float*, 2> halo_below_{};
  std::optional<findings> found_;
};

void neighbour_at::operator()() const { static_cast<stencil_places_instance*>(places::own_pointer())->learn(*this); }

std::unique_ptr<instance> make_stencil_places(std::string_view size) {
  const size_context context{"stencil_places", size, "1024/iterations=20"};
  const std::size_t slash = size.find('/');
  stencil_size read{static_cast<int>(parse_whole(context, size.substr(0, slash), heat_region::tile_side, largest_n)),
                    usual_iterations};
  if (read.n % heat_region::tile_side != 0) {
    reject_size(context, fmt::format("is no multiple of {}", heat_region::tile_side));
  }
  if (slash != std::string_view::npos) {
    constexpr std::string_view name = "iterations=";
    const std::string_view part = size.substr(slash + 1);
    if (!part.starts_with(name)) reject_size(context, fmt::format("has '{}', which is not {}", part, name));
    read.iterations = static_cast<int>(parse_whole(context, part.substr(name.size()), 1, most_iterations));
  }
  return std::make_unique<stencil_places_instance>(read);
}

}  // namespace

workload stencil_places_workload() {
  return {"stencil_places",
          "heat in a square of n x n cells, rows distributed over places: n, or n/iterations=K",
          "2048",
          {"1024", "2048", "4096", "1024/iterations=100"},
          make_stencil_places,
          "256/iterations=6",
          true};
}

}  // namespace filch::bench
