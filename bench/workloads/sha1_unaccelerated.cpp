// For processors without supported SHA instructions; CMake chooses between this file and sha1_x86.cpp.
#include "sha1.hpp"

namespace filch::bench {

const sha1_kernel* accelerated_sha1() { return nullptr; }

}  // namespace filch::bench
