// fib: the n-th Fibonacci number by double recursion, no cutoff. Nothing but task overhead, so what is measured is the
// cost of a fork and its join. With a cutoff, as in "40/20", calls below it are serial, and what is left is coarse
// tasks.
//
// The serial version is plain recursion with inlining blocked: otherwise the compiler unrolls the recursion several
// levels deep and computes something other than calls. filch's fork_join is inlined as a user would have it (`fib`),
// and with inlining blocked as well (`fib_noinline`), for a comparison call by call. `fib_hints` has groups with work
// hints in place of forks, as in the paper on almost deterministic work stealing (Shiina and Taura, SC 2019, section
// 5.5): the first call is a task of two thirds of the work, and the second one is no task.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "parse_size.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

constexpr int largest_n = 60;

vm::work call("fib_call");

template <class Peer>
long fib(int n) {
  if (n < 2) return n;
  call.done();
  auto [a, b] = Peer::fork_join([=] { return fib<Peer>(n - 1); }, [=] { return fib<Peer>(n - 2); });
  return a + b;
}

template <class Peer>
[[gnu::noinline]] long fib_noinline(int n) {
  if (n < 2) return n;
  call.done();
  auto [a, b] = Peer::fork_join([=] { return fib_noinline<Peer>(n - 1); }, [=] { return fib_noinline<Peer>(n - 2); });
  return a + b;
}

// Plain recursion. What the compiler makes of it beyond inlining (gcc turns the second call into a loop) it may make:
// that is what not using a task library at all costs.
template <>
[[gnu::noinline]] long fib_noinline<serial_peer>(int n) {
  if (n < 2) return n;
  call.done();
  return fib_noinline<serial_peer>(n - 1) + fib_noinline<serial_peer>(n - 2);
}

// Versions of their own, so that the ones without a cutoff have nothing of it.
template <class Peer>
long fib_above(int n, int cutoff) {
  if (n < cutoff) return fib_noinline<serial_peer>(n);
  call.done();
  auto [a, b] =
      Peer::fork_join([=] { return fib_above<Peer>(n - 1, cutoff); }, [=] { return fib_above<Peer>(n - 2, cutoff); });
  return a + b;
}

template <class Peer>
[[gnu::noinline]] long fib_noinline_above(int n, int cutoff) {
  if (n < cutoff) return fib_noinline<serial_peer>(n);
  call.done();
  auto [a, b] = Peer::fork_join([=] { return fib_noinline_above<Peer>(n - 1, cutoff); },
                                [=] { return fib_noinline_above<Peer>(n - 2, cutoff); });
  return a + b;
}

template <class Peer>
long fib_hinted(int n, int cutoff) {
  if (n < cutoff) return fib_noinline<serial_peer>(n);
  call.done();
  long first = 0;
  typename Peer::hinted_group both(3);
  both.run([=, &first] { first = fib_hinted<Peer>(n - 1, cutoff); }, 2);
  const long second = fib_hinted<Peer>(n - 2, cutoff);
  both.wait();
  return first + second;
}

long fib_iterative(int n) {
  long current = 0;
  long next = 1;
  for (int i = 0; i < n; ++i) {
    const long sum = current + next;
    current = next;
    next = sum;
  }
  return current;
}

constexpr int no_cutoff = 2;  // calls with less than 2 do not fork

// The calls for numbers from the cutoff on: c(n) = 1 + c(n - 1) + c(n - 2).
std::uint64_t forks(int n, int cutoff) {
  std::uint64_t current = 0;
  std::uint64_t last = 0;
  for (int i = cutoff; i <= n; ++i) last = std::exchange(current, 1 + current + last);
  return current;
}

enum class version { inlined, not_inlined, hinted };

class fib_instance final : public instance {
 public:
  fib_instance(int n, int cutoff, version of_peers) : n_(n), cutoff_(cutoff), of_peers_(of_peers) {}

  void prepare() override { value_ = -1; }

  void run(runner on) override {
    call.look_up();
    value_ = with_peer(on, [&]<class Peer>() {
      const bool blocked = std::is_same_v<Peer, serial_peer> || of_peers_ == version::not_inlined;
      if (of_peers_ == version::hinted && !blocked) return fib_hinted<Peer>(n_, cutoff_);
      if (cutoff_ != no_cutoff) return blocked ? fib_noinline_above<Peer>(n_, cutoff_) : fib_above<Peer>(n_, cutoff_);
      return blocked ? fib_noinline<Peer>(n_) : fib<Peer>(n_);
    });
  }

  std::string result() const override { return fmt::to_string(value_); }
  bool verify() const override { return value_ == fib_iterative(n_); }

  std::uint64_t tasks() const override { return forks(n_, cutoff_); }

 private:
  int n_;
  int cutoff_;
  version of_peers_;
  long value_ = -1;
};

workload make_workload(std::string name, std::string summary, version of_peers) {
  auto make = [name, of_peers](std::string_view size) -> std::unique_ptr<instance> {
    const size_context context{name, size, "36"};
    const std::size_t slash = size.find('/');
    const int n = static_cast<int>(parse_whole(context, size.substr(0, slash), 0, largest_n));
    const int cutoff = slash == std::string_view::npos
                           ? no_cutoff
                           : static_cast<int>(parse_whole(context, size.substr(slash + 1), no_cutoff, largest_n));
    return std::make_unique<fib_instance>(n, cutoff, of_peers);
  };
  return {std::move(name), std::move(summary), "36", {"30", "36", "38", "42", "40/20"}, std::move(make), "30"};
}

}  // namespace

workload fib_workload() {
  return make_workload("fib",
                       "Fibonacci number n by double recursion, one task per call from the cutoff on, if there is one",
                       version::inlined);
}

workload fib_noinline_workload() {
  return make_workload("fib_noinline", "fib with inlining blocked for every runner", version::not_inlined);
}

workload fib_hints_workload() {
  return make_workload("fib_hints", "fib by groups whose first task has two thirds of the work, as a hint",
                       version::hinted);
}

}  // namespace filch::bench
