#include "platform/affinity.hpp"

#include <utility>

#include <sched.h>

namespace filch::platform {
namespace {

/// From before the outermost binding of the thread.
thread_local const affinity_mask* unbound = nullptr;

}  // namespace

const affinity_mask* affinity_mask::before_binding() noexcept { return unbound; }

affinity_mask affinity_mask::of_caller() noexcept {
  affinity_mask mask;
  if (sched_getaffinity(0, sizeof mask.words_, reinterpret_cast<cpu_set_t*>(mask.words_.data())) != 0) return {};
  return mask;
}

affinity_mask affinity_mask::only(int processor) noexcept {
  affinity_mask mask;
  mask.words_[word_of(processor)] = 1UL << bit_of(processor);
  return mask;
}

bool affinity_mask::apply() const noexcept {
  return sched_setaffinity(0, sizeof words_, reinterpret_cast<const cpu_set_t*>(words_.data())) == 0;
}

void affinity_mask::give_to(pthread_attr_t& attributes) const noexcept {
  pthread_attr_setaffinity_np(&attributes, sizeof words_, reinterpret_cast<const cpu_set_t*>(words_.data()));
}

void processor_binding::begin(int processor) noexcept {
  if (processor < 0 || processor >= affinity_mask::most_processors) return;
  before_ = affinity_mask::of_caller();
  if (!affinity_mask::only(processor).apply()) return;
  processor_ = processor;
  outer_ = unbound;
  if (unbound == nullptr) unbound = &before_;
}

void processor_binding::end() noexcept {
  if (processor_ < 0) return;
  unbound = outer_;
  if (affinity_mask::of_caller() == affinity_mask::only(std::exchange(processor_, -1))) before_.apply();
}

}  // namespace filch::platform
