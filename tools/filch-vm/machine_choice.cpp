#include "machine_choice.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data_folder.hpp"

namespace filch::cli {

vm::machine_description choose_machine(const std::string& text) {
  vm::machine_description machine = vm::load_machine(text, machine_folder());
  std::vector<std::string> missing;
  for (const auto& [work, price] : vm::load_machine("generic", machine_folder()).work) {
    if (!machine.work.contains(work)) missing.push_back(work + "_ns");
  }
  if (missing.empty()) return machine;
  throw std::invalid_argument(fmt::format("machine '{}' has no price {}; add it to \"work\" in its file, as in generic",
                                          machine.name, fmt::join(missing, ", ")));
}

}  // namespace filch::cli
