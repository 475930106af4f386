// What all_reduce, and the end of main, which is one as well, send up and down the tree of places: values, and the error of
// the lowest place that has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "places/tree.hpp"

namespace filch::detail::places {

/// Who takes part in a reduction.
enum class reduction_of : std::uint8_t { all_reduce, end_of_main };

/// A place's contribution, for tree::contribute.
[[nodiscard]] std::vector<std::byte> contribution(reduction_of what, int place, std::span<const std::byte> value);

/// Combines two contributions at `place`: their values by `add`, whose exception becomes that place's error. Contributions
/// that do not belong together are an error too.
[[nodiscard]] tree::combine combine_contributions(int place, tree::combine add);

/// What a place does that has contributed this, as a sentence's beginning: "place 3 calls all_reduce ...".
[[nodiscard]] std::string told(std::span<const std::byte> contribution);

/// The value of a result.
/// @throws filch::places::place_failed: the error that it has instead.
[[nodiscard]] std::vector<std::byte> value_of(std::span<const std::byte> result);

}  // namespace filch::detail::places
