#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "build_info.hpp"
#include "error_line.hpp"
#include "place_session.hpp"
#include "suggestion.hpp"

namespace filch::cli {

namespace {

// Of processes that were started together and do the same, one says what is wrong. Launchers end all when one ends, and the
// others may have no way to talk to it: they are not to be first, as in filch::places::run.
int fail(int status, std::string_view message) {
  constexpr std::chrono::seconds time_for_the_line{1};
  if (is_follower()) {
    std::this_thread::sleep_for(time_for_the_line);
  } else {
    print_error(message);
  }
  return status;
}

// The sub-command that was being parsed, or the program itself.
const CLI::App& innermost(const CLI::App& root) {
  const auto parsed = root.get_subcommands();
  return parsed.empty() ? root : *parsed.back();
}

std::string help_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "filch --help" : fmt::format("filch {} --help", app.get_name());
}

// Says which word was not understood, and which one may have been meant.
std::string describe_extra(const CLI::App& root) {
  const CLI::App& at = innermost(root);
  const std::string extra = root.remaining(true).front();
  const bool is_option = extra.starts_with('-');
  std::vector<std::string> names;
  if (is_option) {
    for (const CLI::Option* option : at.get_options()) {
      names.push_back(option->get_name());
    }
  } else {
    std::ranges::transform(at.get_subcommands(nullptr), std::back_inserter(names),
                           [](const CLI::App* each) { return each->get_name(); });
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = nearest_name(extra.substr(0, extra.find('=')), known);
  const std::string question = nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
  const std::string_view kind = is_option ? "option" : (&at == &root ? "command" : "argument");
  return fmt::format("unknown {} '{}'; {}'{}' shows what there is", kind, extra, question, help_of(at));
}

int run(int argc, const char* const* argv, const program& what) {
  CLI::App root{what.summary, "filch"};
  root.set_version_flag("--version", std::string{build_info::version}, "Print the version");
  root.require_subcommand(0, 1);
  root.footer("'filch COMMAND --help' shows the options of a command, with examples.\n");
  std::vector<command> commands;
  std::ranges::transform(what.commands, std::back_inserter(commands), [&](const auto& add) { return add(root); });
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return root.exit(request);
  } catch (const CLI::ExtrasError&) {
    return fail(exit_misuse, describe_extra(root));
  } catch (const CLI::ParseError& error) {
    return fail(exit_misuse, fmt::format("{}; see '{}'", error.what(), help_of(innermost(root))));
  }
  const auto chosen = std::ranges::find_if(commands, [](const command& each) { return each.app->parsed(); });
  if (chosen == commands.end()) {
    return fail(exit_misuse, "no command given; 'filch --help' shows what there is");
  }
  return chosen->run();
}

}  // namespace

int run_program(int argc, const char* const* argv, const program& what) {
  try {
    const int status = run(argc, argv, what);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw std::runtime_error("cannot write to standard output");
    }
    return status;
  } catch (const std::invalid_argument& error) {  // what the library, the workloads and the commands throw for misuse
    return fail(exit_misuse, error.what());
  } catch (const std::exception& error) {
    // fmt says of any stream that it cannot write to a file.
    return fail(exit_failure, std::ferror(stdout) != 0 ? "cannot write to standard output" : message_of(error));
  }
}

}  // namespace filch::cli
