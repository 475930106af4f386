// Places on the virtual machine: each is a node of the world, whose network connects them. The load board is made of
// three words of each node, which the others reach one-sidedly, as they do over the hardware that machine files describe.
#pragma once

#include <memory>

#include "places/network.hpp"

namespace filch::detail::places {

/// For the calling thread's node, and for threads of that node.
[[nodiscard]] std::unique_ptr<network> connect_virtual_network();

}  // namespace filch::detail::places
