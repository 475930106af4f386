// Elements of a std::vector<bool> share words, which two workers must not change at the same time. None of these loops and
// scans, which would let them, may compile (refused_test.py).
#include <functional>
#include <ranges>
#include <vector>

#include <filch/filch.hpp>

void change(std::vector<bool>& bits) {
  const auto set = [](auto&& bit) { bit = true; };
  const auto set_first = [](const auto& part) { *part.begin() = true; };
  const auto is_clear = [](bool bit) { return !bit; };
  const auto any = [](const auto& part, bool sum, bool /*is_final*/) { return sum != part.empty(); };
  auto same = bits | std::views::transform([](auto&& bit) -> std::vector<bool>::reference { return bit; });
  const std::vector<double> hints(bits.size() + 1);
  const filch::blocked_range2d rectangle(0, 3, bits.begin(), bits.end());
  filch::parallel_for(same, set);                                                                           // refused
  filch::parallel_for(bits | std::views::filter(is_clear), set, filch::weights(hints));                     // refused
  filch::parallel_for(filch::blocked_range(same.begin(), same.end()), set_first);                           // refused
  filch::parallel_for(rectangle, [](const auto& part) { *part.cols().begin() = true; });                    // refused
  filch::parallel_inclusive_scan(bits.cbegin(), bits.cend(), bits.begin(), std::bit_xor<>());               // refused
  filch::parallel_exclusive_scan(bits.cbegin(), bits.cend(), bits.rbegin(), false, std::bit_xor<>());       // refused
  filch::parallel_scan(filch::blocked_range(bits.begin(), bits.end()), false, any, std::not_equal_to<>());  // refused
  filch::for_each_dynamic(same, [](auto& bit, auto& /*more*/) { bit = true; });                             // refused
}
