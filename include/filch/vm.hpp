// What a program tells the virtual machine about itself, so that its own work takes virtual time there (docs/
// simulation.md). On real processors work takes the time that it takes, and all of this compiles to nothing.
//
// A program that says nothing runs on the virtual machine as well; its work is then free.
#pragma once

#include <cstddef>

#include <filch/platform/work.hpp>

namespace filch::vm {

/// The caller has worked for so long, in nanoseconds.
using platform::charge;

/// The caller is going to read that memory or, if `writes`, to write it.
/// @par Complexity on the virtual machine linear in the size.
using platform::touch;

/// Price of one unit of the named work in nanoseconds, as the machine file of the simulation says, without the `_ns` of
/// its key; 0 where there is no simulation. @throws std::invalid_argument for a name that machine files do not have.
using platform::price;

/// One kind of work and its price. A constant of the program: the price is looked up when a run begins, not with every
/// unit.
using platform::work;

}  // namespace filch::vm
