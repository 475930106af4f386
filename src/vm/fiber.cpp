#include "vm/fiber.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <boost/context/detail/fcontext.hpp>

#include <filch/detail/worker_core.hpp>

#include "platform/exceptions.hpp"

namespace filch::platform::vm {
namespace {

namespace context = boost::context::detail;

constexpr std::uint64_t canary = 0x6669'6c63'6820'766dULL;

}  // namespace

fiber_set::fiber_set(std::size_t most, std::size_t stack_bytes)
    : stack_bytes_(stack_bytes), most_(most), memory_(most * stack_bytes) {
  around_.set_ = this;
}

fiber_set::~fiber_set() { reset(); }

void fiber_set::prepare(fiber& f) {
  if (used_ == most_) {
    throw std::runtime_error("filch: the virtual machine has room for " + std::to_string(most_) +
                             " fibers; use fewer workers");
  }
  std::byte* const low = static_cast<std::byte*>(memory_.data()) + used_++ * stack_bytes_;
  prepared_.push_back(&f);
  sanitizers::created(f.sanitizer_, low, stack_bytes_);
  *reinterpret_cast<std::uint64_t*>(low) = canary;
  f.set_ = this;
  f.exceptions_ = nullptr;
  f.uncaught_ = 0;
  f.self_ = &filch::detail::foreign_worker;
  f.context_ = context::make_fcontext(low + stack_bytes_, stack_bytes_, [](context::transfer_t t) {
    auto& from = *static_cast<fiber*>(t.data);
    from.context_ = t.fctx;
    fiber& here = *from.set_->running_;
    sanitizers::arrived(from.sanitizer_, here.sanitizer_);
    here.body();
    std::abort();
  });
}

void fiber_set::change(fiber& to) noexcept {
  fiber& here = *running_;
  exception_globals& exceptions = exceptions_of_this_thread();
  here.exceptions_ = exceptions.caught;
  here.uncaught_ = exceptions.uncaught;
  here.self_ = filch::detail::self;
  exceptions = {to.exceptions_, to.uncaught_};
  filch::detail::self = static_cast<filch::detail::worker_core*>(to.self_);
  running_ = &to;
  sanitizers::leaving(here.sanitizer_, to.sanitizer_);
  const context::transfer_t t = context::jump_fcontext(to.context_, &here);
  auto& from = *static_cast<fiber*>(t.data);
  from.context_ = t.fctx;
  sanitizers::arrived(from.sanitizer_, here.sanitizer_);
}

void fiber_set::run(fiber& first) {
  around_.self_ = filch::detail::self;
  change(first);
}

void fiber_set::switch_to(fiber& next) noexcept { change(next); }

void fiber_set::leave() noexcept {
  change(around_);
  std::abort();
}

void fiber_set::reset() noexcept {
  for (const fiber* const f : prepared_) sanitizers::abandoned(f->sanitizer_, f->context_);
  prepared_.clear();
  used_ = 0;
}

int fiber_set::overflowed() const noexcept {
  const auto* const stacks = static_cast<const std::byte*>(memory_.data());
  for (std::size_t i = 0; i < used_; ++i) {
    if (*reinterpret_cast<const std::uint64_t*>(stacks + i * stack_bytes_) != canary) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace filch::platform::vm
