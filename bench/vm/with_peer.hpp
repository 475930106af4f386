// From a runner known at run time to a peer known at compile time, on the virtual machine, where filch has no company
// but its serial elision, and the same with its span measured.
#pragma once

#include <stdexcept>

#include "analysing_peer.hpp"
#include "charged_peer.hpp"
#include "serial_peer.hpp"
#include "workload.hpp"

namespace filch::bench {

/// Calls `kernel.operator()<Peer>()` with the peer of that runner: `with_peer(on, [&]<class Peer>() { ... })`.
template <class Kernel>
auto with_peer(runner on, Kernel&& kernel) {
  if (on == runner::filch) {
    spawn.look_up();
    return kernel.template operator()<charged_peer>();
  }
  if (on == runner::analysed) {
    spawn.look_up();
    recorder.begin();
    return kernel.template operator()<analysing_peer>();
  }
  if (on != runner::serial) throw std::logic_error("only filch and serial run on the virtual machine");
  return kernel.template operator()<serial_peer>();
}

}  // namespace filch::bench
