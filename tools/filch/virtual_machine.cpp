#include "virtual_machine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sibling_program.hpp"

namespace filch::cli {

namespace {

constexpr std::array<std::array<std::string_view, 2>, 4> summaries{
    {{"simulate", "Run workloads on a virtual machine with as many cores as wanted"},
     {"reproduce", "Repeat the experiments of papers on virtual machines, and compare"},
     {"calibrate", "Measure this machine and write its machine file"},
     {"validate", "Compare simulated with real runs on this machine"}}};

[[noreturn]] void become(const std::string& command, const std::vector<std::string>& arguments) {
  const std::string path = sibling_program("filch-vm").string();
  std::vector<const char*> words{path.c_str(), command.c_str()};
  std::ranges::transform(arguments, std::back_inserter(words), &std::string::c_str);
  words.push_back(nullptr);
  execv(path.c_str(), const_cast<char* const*>(words.data()));
  throw std::runtime_error(fmt::format("cannot run '{}': {}", path, std::generic_category().message(errno)));
}

}  // namespace

command add_forwarded_command(CLI::App& root, const std::string& name) {
  const auto found = std::ranges::find(summaries, name, [](const auto& each) { return each.front(); });
  CLI::App* const app = root.add_subcommand(name, std::string{found->back()});
  // All words behind the name are the other program's, also --help.
  app->prefix_command();
  app->set_help_flag();
  return {app, [app, name]() -> int { become(name, app->remaining()); }};
}

}  // namespace filch::cli
