// The command line program.
#include "program.hpp"
#include "virtual_machine.hpp"

int main(int argc, char** argv) {
  using namespace filch::cli;
  const program filch{.summary = "filch: a work-stealing runtime, and its benchmarks.",
                      .commands = {add_bench_command, add_demo_command, add_latency_command, add_list_command,
                                   add_profile_command, add_top_command, add_topology_command,
                                   [](CLI::App& root) { return add_forwarded_command(root, "simulate"); },
                                   [](CLI::App& root) { return add_forwarded_command(root, "reproduce"); },
                                   [](CLI::App& root) { return add_forwarded_command(root, "calibrate"); },
                                   [](CLI::App& root) { return add_forwarded_command(root, "validate"); }}};
  return run_program(argc, argv, filch);
}
