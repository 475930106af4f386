#include <functional>
#include <new>
#include <vector>

#include "scenario.hpp"
#include "worker/closure_pool.hpp"

namespace filch::explore {
namespace {

constexpr std::size_t in_a_list = 63;  // the first 62 fill it, and the last one sends it back

struct closure {
  payload* state;
};

/// Blocks, each with a closure whose state says how far it is.
struct all_blocks {
  explicit all_blocks(std::size_t n) : states(n), blocks(n) {
    for (std::size_t i = 0; i < n; ++i) {
      states[i].store(0);
      blocks[i] = ::operator new(detail::pooled_bytes);
      ::new (blocks[i]) closure{&states[i]};
    }
  }

  void give_back(detail::closure_pool& to, std::size_t first, std::size_t last) {
    detail::closure_pool::blocks_on_their_way back;
    for (std::size_t i = first; i < last; ++i) {
      states[i].store(1);
      back.add(blocks[i], to);
    }
  }

  static void use_again(void* block) {
    if (block == nullptr) return;
    payload& state = *static_cast<closure*>(block)->state;
    check(state.load() == 1, "a block came back before its closure had ended, or twice");
    state.store(2);
    ::operator delete(block);
  }

  std::vector<payload> states;
  std::vector<void*> blocks;
};

/// Blocks that others have ended come back to their owner, who uses them again.
void explore_blocks(std::size_t strangers) {
  detail::closure_pool pool;
  all_blocks all(in_a_list * strangers);
  std::vector<std::function<void()>> parts{[&] {
    for (int tries = 0; tries < 70; ++tries) all_blocks::use_again(pool.take());
  }};
  for (std::size_t s = 0; s < strangers; ++s) {
    parts.emplace_back([&, s] { all.give_back(pool, s * in_a_list, (s + 1) * in_a_list); });
  }
  in_parallel(parts);
}

/// Two threads that share a pool, and one that gives back.
void explore_shared() {
  detail::shared_closure_pool pool;
  detail::closure_pool* from = nullptr;
  static_cast<void>(pool.take(from));
  all_blocks all(2 * in_a_list);
  const auto take = [&] {
    detail::closure_pool* ignored = nullptr;
    for (int tries = 0; tries < 64; ++tries) all_blocks::use_again(pool.take(ignored));
  };
  in_parallel({take, take, [&] { all.give_back(*from, 0, 2 * in_a_list); }});
}

}  // namespace

void add_closure_pool(scenario_list& to) {
  to.push_back({"closure_pool", "blocks on their way back to their owner", [] { explore_blocks(1); }});
  to.push_back({"closure_pool_two", "the same from two threads", [] { explore_blocks(2); }});
  to.push_back(
      {"closure_pool_shared", "two threads that share a pool, and one that gives back", [] { explore_shared(); }});
}

}  // namespace filch::explore
