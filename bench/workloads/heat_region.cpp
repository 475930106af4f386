#include "heat_region.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace filch::bench {
namespace {

constexpr std::size_t page_cells = 4096 / sizeof(float);

// Whole degrees from 0 to 1023, in no order.
float first_temperature(std::uint32_t row, std::uint32_t column) {
  const std::uint32_t mixed = (row * 0x9e3779b1U) ^ (column * 0x85ebca6bU);
  return static_cast<float>((mixed ^ (mixed >> 15)) & 1023U);
}

}  // namespace

// A mapping rather than the heap, which would give back memory whose pages have their places already.
heat_region::heat_region(int n) : n_(n), cells_(nullptr) {
  void* const at = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  cells_ = static_cast<float*>(at);
}

heat_region::~heat_region() {
  if (cells_ != nullptr) munmap(cells_, bytes());
}

heat_region::heat_region(heat_region&& from) noexcept : n_(from.n_), cells_(std::exchange(from.cells_, nullptr)) {}

heat_region& heat_region::operator=(heat_region&& from) noexcept {
  std::swap(n_, from.n_);
  std::swap(cells_, from.cells_);
  return *this;
}

std::size_t heat_region::buffer_cells() const {
  const std::size_t cells = line_cells + static_cast<std::size_t>(n_ + 2) * stride();
  return (cells + page_cells - 1) / page_cells * page_cells;
}

void heat_region::begin(int first, int rows, int column, int columns) {
  for (int i = first; i < first + rows; ++i) {
    float* const hot = row(0, i);
    for (int j = column; j < column + columns; ++j) {
      hot[j] = first_temperature(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    }
    std::fill_n(row(1, i) + column, columns, 0.0F);
  }
}

void heat_region::step(int to, int first, int rows, int column, int columns) {
  const auto source = [&](int i) { return row(1 - to, i) + column; };
  for (int i = first; i < first + rows; ++i) {
    heat_row(row(to, i) + column, source(i - 1), source(i), source(i + 1), columns);
  }
}

[[gnu::noinline]] void heat_row(float* __restrict to, const float* __restrict above, const float* __restrict row,
                                const float* __restrict below, int columns) {
  // No product is added to anything: a processor that fuses the two would round differently.
  for (int j = 0; j < columns; ++j) to[j] = 0.2F * (row[j] + row[j - 1] + row[j + 1] + above[j] + below[j]);
}

bool is_same(const heat_region& a, int buffer_of_a, const heat_region& b, int buffer_of_b) {
  const std::size_t bytes = static_cast<std::size_t>(a.size()) * sizeof(float);
  for (int i = 0; i < a.size(); ++i) {
    if (std::memcmp(a.row(buffer_of_a, i), b.row(buffer_of_b, i), bytes) != 0) return false;
  }
  return true;
}

}  // namespace filch::bench
