#include "worker/sleeper_counts.hpp"

#include "worker/team.hpp"

namespace filch::detail {

sleeper_counts::sleeper_counts()
    : memory_((team::max_workers + of_a_word - 1) / of_a_word * sizeof(line)),
      lines_(static_cast<line*>(memory_.data())) {}

}  // namespace filch::detail
