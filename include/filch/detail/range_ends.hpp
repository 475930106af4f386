// The ends of a range as a range-based for loop finds them: members, an array's, or functions beside the range's type. Those are the
// only names that filch looks for in the namespaces of its arguments.
#pragma once

#include <iterator>

namespace filch::detail {
namespace range_ends {

using std::begin;
using std::end;

template <class Range>
constexpr auto range_begin(Range& range) -> decltype(begin(range)) {
  return begin(range);
}
template <class Range>
constexpr auto range_end(Range& range) -> decltype(end(range)) {
  return end(range);
}

}  // namespace range_ends

using range_ends::range_begin;
using range_ends::range_end;

}  // namespace filch::detail
