#include "filch_options.hpp"

#include "option_value.hpp"

namespace filch::cli {

CLI::Option* add_text(CLI::App& command, const std::string& name, const std::string& help, const std::string& type) {
  // Given twice, it is kept twice: value_of says what is wrong with that.
  return command.add_option(name, help)->type_name(type)->type_size(1)->take_all();
}

void add_filch_options(CLI::App& command) {
  add_text(command, "--policy", "Work-stealing policies (default: standard)", "P,...");
  add_text(command, "--join", "What to do at a join whose task was stolen (default: the policy's own)", "J,...");
  add_text(command, "--loop", "How loops are split that do not say (default: the policy's own)", "L,...");
  command.add_flag("--steal-half")
      ->description(
          "Thieves get half of the tasks, not one (policies lace, standard, receiver, receiver_blocking, sender)");
  command.add_flag("--push-half")
      ->description("Half of all waiting tasks are offered where one would be (policies lazy_*)");
  add_text(command, "--delta",
           "Mean time between two deals of a worker, in nanoseconds (policy sender; default: 30000)", "NS");
  add_text(
      command, "--level-attempts",
      "Attempts to steal from workers that share a core, a cache or a socket before a worker looks farther (policy "
      "hierarchical; default: 8)",
      "N");
  add_text(command, "--spin",
           "How long a worker that finds nothing to do spins before it sleeps, in nanoseconds (default: 50000)", "NS");
  add_text(command, "--interrupt-after",
           "How long a worker waits for an answer before it interrupts another one, in nanoseconds; 0: for ever "
           "(default: 0)",
           "NS");
  add_text(command, "--interrupt-every",
           "Time between interrupts by a thread of their own, in nanoseconds; 0: none (policy sender; default: 0)",
           "NS");
  add_text(command, "--pinning",
           "Where workers run: none: anywhere; compact: sockets are filled in order; scatter: as many in each socket "
           "(default: none)",
           "W");
}

filch_settings settings_of(const CLI::App& command, int most) {
  return {.policies = value_of(command, "--policy"),
          .joins = value_of(command, "--join"),
          .loops = value_of(command, "--loop"),
          .workers = value_of(command, "--workers"),
          .steal_half = is_set(command, "--steal-half"),
          .push_half = is_set(command, "--push-half"),
          .pinning = value_of(command, "--pinning"),
          .delta = value_of(command, "--delta"),
          .level_attempts = value_of(command, "--level-attempts"),
          .spin = value_of(command, "--spin"),
          .interrupt_after = value_of(command, "--interrupt-after"),
          .interrupt_every = value_of(command, "--interrupt-every"),
          .most = most};
}

}  // namespace filch::cli
