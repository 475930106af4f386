// The command line program of the virtual machine. People call it by way of 'filch'.
#include "environment.hpp"
#include "program.hpp"
#include "vm_commands.hpp"

int main(int argc, char** argv) {
  using namespace filch::cli;
  forget_settings();
  const program filch_vm{
      .summary = "filch-vm: filch on a virtual machine.",
      .commands = {add_simulate_command, add_reproduce_command, add_calibrate_command, add_validate_command}};
  return run_program(argc, argv, filch_vm);
}
