// A profile as a page of HTML, which needs nothing else: the figures are in it as JSON, and a script draws them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/profile_recorder.hpp"

namespace filch::detail {

struct program_profile {
  std::string program;
  int workers;              ///< that this machine has
  std::int64_t outside_ns;  ///< between the first scheduler's begin and the end of the program, in no task
  const profiled_work& work;
};

/// What stands out, and what to do about it, in sentences.
std::vector<std::string> advice_on(const program_profile& of);

/// Throws std::runtime_error when it cannot be written; std::bad_alloc.
void write_profile_page(const std::string& path, const program_profile& of);

}  // namespace filch::detail
