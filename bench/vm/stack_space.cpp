// On the virtual machine stacks are fibers'.
#include "stack_space.hpp"

#include <filch/vm/simulation.hpp>

namespace filch::bench {

std::size_t remaining_stack_bytes() { return vm::stack_left(); }

}  // namespace filch::bench
