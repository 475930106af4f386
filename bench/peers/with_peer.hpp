// From a runner known at run time to a peer known at compile time.
#pragma once

#include <stdexcept>

#include "filch_peer.hpp"
#include "openmp_peer.hpp"
#include "serial_peer.hpp"
#include "tbb_peer.hpp"
#include "workload.hpp"

namespace filch::bench {

/// Calls `kernel.operator()<Peer>()` with the peer of that runner: `with_peer(on, [&]<class Peer>() { ... })`.
template <class Kernel>
auto with_peer(runner on, Kernel&& kernel) {
  switch (on) {
    case runner::filch:
      return kernel.template operator()<filch_peer>();
    case runner::tbb:
      return kernel.template operator()<tbb_peer>();
    case runner::tbb_simple:
      return kernel.template operator()<tbb_simple_peer>();
    case runner::tbb_static:
      return kernel.template operator()<tbb_static_peer>();
    case runner::tbb_affinity:
      return kernel.template operator()<tbb_affinity_peer>();
    case runner::openmp:
      return kernel.template operator()<openmp_peer>();
    case runner::openmp_static:
      return kernel.template operator()<openmp_static_peer>();
    case runner::openmp_dynamic:
      return kernel.template operator()<openmp_dynamic_peer>();
    case runner::analysed:
      throw std::logic_error("what a computation is made of can be measured on the virtual machine only");
    case runner::mpi:
      throw std::logic_error("a task farm is not entered: workloads run on it by instance::run_on");
    case runner::serial:
      break;
  }
  return kernel.template operator()<serial_peer>();
}

}  // namespace filch::bench
