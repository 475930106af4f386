// Catches, by type, what tasks in a shared library throw. Exit status 0 if that works.
#include <string>

#include "library.hpp"

namespace {

bool catches(thrown_by which) {
  try {
    run_in_library(which);
  } catch (const library_error& error) {
    return std::string(error.what()) == "thrown";
  }
  return false;
}

}  // namespace

int main() {
  const bool all =
      catches(thrown_by::first_branch) && catches(thrown_by::stolen_branch) && catches(thrown_by::task_of_group);
  return all ? 0 : 1;
}
