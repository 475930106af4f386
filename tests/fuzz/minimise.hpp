// Makes a failing program smaller for as long as it goes on failing.
#pragma once

#include <chrono>
#include <functional>

#include "program.hpp"

namespace filch::fuzz {

/// @param fails  runs a program, as often as it takes, and says whether it still fails in the same way.
program minimise(program p, const features& wanted, const std::function<bool(const program&)>& fails,
                 std::chrono::seconds limit);

}  // namespace filch::fuzz
