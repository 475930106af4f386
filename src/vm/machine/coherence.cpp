#include "vm/machine/coherence.hpp"

namespace filch::platform::vm {

picoseconds coherence::load(cache_line& line, std::uint32_t core, picoseconds now) {
  if (line.owner != cache_line::nobody) {
    const picoseconds end = std::max(now, line.free_at) + load_owned_.cost(same_socket(line.owner, core));
    line.holders.insert(line.owner, cores_);
    line.holders.insert(core, cores_);
    line.owner = cache_line::nobody;
    line.free_at = end;
    return end;
  }
  if (line.holders.empty(cores_)) {
    line.owner = core;
    return now + hit_;
  }
  const std::uint32_t first = first_of_socket(core);
  const bool near = line.holders.any_in(first, first + cores_per_socket_);
  line.holders.insert(core, cores_);
  return std::max(now, line.free_at) + load_shared_.cost(near);
}

picoseconds coherence::own(cache_line& line, std::uint32_t core, picoseconds now, bool atomic) {
  picoseconds cost = hit_;
  if (line.owner != cache_line::nobody) {
    cost = store_owned_.cost(same_socket(line.owner, core));
  } else if (line.holders.any_in(0, core) || line.holders.any_in(core + 1, cores_)) {
    const std::uint32_t first = first_of_socket(core);
    const bool far = line.holders.any_in(0, first) || line.holders.any_in(first + cores_per_socket_, cores_);
    cost = store_shared_.cost(!far);
  }
  const picoseconds end = std::max(now, line.free_at) + cost + (atomic ? atomic_extra_ : 0);
  line.owner = core;
  line.holders.clear(cores_);
  line.free_at = end;
  return end;
}

}  // namespace filch::platform::vm
