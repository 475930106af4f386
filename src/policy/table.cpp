#include "policy/table.hpp"

#include <utility>

#include "join/leapfrog.hpp"
#include "join/migrated.hpp"
#include "join/random_join.hpp"
#include "join/transitive.hpp"
#include "policy/adws.hpp"
#include "policy/chase_lev.hpp"
#include "policy/constrained.hpp"
#include "policy/lace.hpp"
#include "policy/lazy.hpp"
#include "policy/receiver.hpp"
#include "policy/sender.hpp"
#include "policy/serial.hpp"
#include "victim/hierarchical_victim.hpp"
#include "victim/near_victim.hpp"

namespace filch::detail {
namespace {

using enum loop_kind;

std::vector<loop_kind> with(loop_kind preferred, std::vector<loop_kind> others) {
  std::erase(others, preferred);
  others.insert(others.begin(), preferred);
  return others;
}

/// Of policies without requests.
std::vector<loop_kind> unasked() {
  return {lazy_breadth, lazy_depth, lazy_depth2, automatic, simple, work_first, help_first, fixed, dynamic};
}
std::vector<loop_kind> all() { return with(standard, unasked()); }

std::unique_ptr<policy> make_lace(policy_parts p) {
  return std::make_unique<lace>(std::move(p.victims), std::move(p.join),
                                p.steal_half ? lace::theft::half : lace::theft::one);
}
std::unique_ptr<policy> make_lazy(policy_parts p) {
  return std::make_unique<lazy>(std::move(p.victims), std::move(p.join), rule_of(p.loop), p.push_half);
}
template <bool Steals>
std::unique_ptr<policy> make_adws(policy_parts p) {
  return std::make_unique<adws>(std::move(p.victims), std::move(p.join), p.workers, Steals);
}
template <receiver::acquiring How>
std::unique_ptr<policy> make_receiver(policy_parts p) {
  return std::make_unique<receiver>(std::move(p.victims), std::move(p.join), How, p.steal_half);
}

}  // namespace

// This and the tables made of it are never destroyed: a static destructor may begin a scheduler.
const std::vector<policy_row>& policy_table() {
  static const auto& table = *new const std::vector<policy_row>{
      {.name = "standard",
       .summary = "the default: work is offered when somebody asks, the oldest first, and sought close by first",
       .loops = all(),
       .options = {"steal_half", "interrupt_after_ns"},
       .make = [](policy_parts p) -> std::unique_ptr<policy> {
         return std::make_unique<lace>(std::make_unique<near_victim>(), std::move(p.join),
                                       p.steal_half ? lace::theft::half : lace::theft::some);
       }},
      {.name = "lace",
       .summary = "split deque in the task stack (Lace, 2014)",
       .loops = all(),
       .options = {"steal_half", "interrupt_after_ns"},
       .make = &make_lace},
      {.name = "chase_lev",
       .summary = "every task visible at once (Chase-Lev, 2005)",
       .loops = with(automatic, unasked()),
       .options = {},
       .make = [](policy_parts p) -> std::unique_ptr<policy> {
         return std::make_unique<chase_lev>(std::move(p.victims), std::move(p.join));
       }},
      {.name = "lazy_breadth",
       .summary = "one piece or task on offer, of the oldest loop (BF-LS, 2014)",
       .loops = {lazy_breadth},
       .options = {"push_half"},
       .make = &make_lazy},
      {.name = "lazy_depth",
       .summary = "one piece or task on offer, of the innermost loop (DF-LS, 2014)",
       .loops = {lazy_depth},
       .options = {"push_half"},
       .make = &make_lazy},
      {.name = "lazy_depth2",
       .summary = "two pieces or tasks on offer, of the innermost loop (DF2-LS, 2014)",
       .loops = {lazy_depth2},
       .options = {"push_half"},
       .make = &make_lazy},
      {.name = "receiver",
       .summary = "private deques: owners answer requests, idle workers decline them (Acar and others, 2013)",
       .loops = all(),
       .options = {"steal_half", "interrupt_after_ns"},
       .make = &make_receiver<receiver::acquiring::declining>},
      {.name = "receiver_blocking",
       .summary = "private deques: the same, but idle workers block requests (appendix C)",
       .loops = all(),
       .options = {"steal_half", "interrupt_after_ns"},
       .make = &make_receiver<receiver::acquiring::blocking>},
      {.name = "sender",
       .summary = "private deques: busy workers deal to idle ones, now and then (Acar and others, 2013)",
       .loops = all(),
       .options = {"steal_half", "interrupt_after_ns", "interrupt_every_ns", "deal_interval_ns"},
       .make = [](policy_parts p) -> std::unique_ptr<policy> {
         return std::make_unique<sender>(std::move(p.victims), std::move(p.join), p.deal_interval_ns, p.steal_half);
       }},
      {.name = "hierarchical",
       .summary = "as lace, but victims are those that share a core, a cache or a socket first (HotSLAW, 2011)",
       .loops = all(),
       .options = {"steal_half", "interrupt_after_ns", "level_attempts"},
       .make = [](policy_parts p) -> std::unique_ptr<policy> {
         return std::make_unique<lace>(std::make_unique<hierarchical_victim>(p.level_attempts), std::move(p.join),
                                       p.steal_half ? lace::theft::half : lace::theft::one);
       }},
      {.name = "adws",
       .summary = "tasks have places: divided by work hints, stolen from close by (Shiina and Taura, 2019)",
       .loops = {standard},
       .options = {"interrupt_after_ns"},
       .make = &make_adws<true>},
      {.name = "adws_nosteal",
       .summary = "the same without stealing: tasks are where division has put them",
       .loops = {standard},
       .options = {},
       .make = &make_adws<false>},
      {.name = "constrained",
       .summary = "repeated parts run where they ran before (constrained work stealing, 2014); else as lace",
       .loops = {standard},
       .options = {"interrupt_after_ns"},
       .make = [](policy_parts p) -> std::unique_ptr<policy> {
         return std::make_unique<constrained>(std::move(p.victims), std::move(p.join));
       }},
      {.name = "serial",
       .summary = "nothing is parallel: each task runs where it is made, in program order; for debugging",
       .loops = all(),
       .options = {},
       .make = [](policy_parts /*p*/) -> std::unique_ptr<policy> { return std::make_unique<serial>(); },
       .default_workers = 1},
  };
  return table;
}

const std::vector<join_row>& join_table() {
  static const auto& table = *new const std::vector<join_row>{
      {"transitive", true, {}, []() -> std::unique_ptr<join_strategy> { return std::make_unique<transitive>(); }},
      {"leapfrog", true, {}, []() -> std::unique_ptr<join_strategy> { return std::make_unique<leapfrog>(); }},
      {"random", false, {}, []() -> std::unique_ptr<join_strategy> { return std::make_unique<random_join>(); }},
      {"migrated",
       false,
       {"adws", "adws_nosteal"},
       []() -> std::unique_ptr<join_strategy> { return std::make_unique<migrated>(); }},
  };
  return table;
}

}  // namespace filch::detail
