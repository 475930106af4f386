// Groups of runtimes that know no work hints.
#pragma once

#include <utility>

namespace filch::bench {

/// A group whose tasks say how much of the total work they are, in any unit, to nobody.
template <class Group>
class hinted : public Group {
 public:
  explicit hinted(double /*total*/) {}
  template <class F>
  [[gnu::always_inline]] void run(F&& closure, double /*work*/) {
    Group::run(std::forward<F>(closure));
  }
};

}  // namespace filch::bench
