// The platform seam: reserved memory that costs nothing until it is touched.
#pragma once

#include "platform/reserve.hpp"

namespace filch::platform {

using mapping = reservation;

}  // namespace filch::platform
