// A shared library that uses filch and shows nothing of it.
#pragma once

#include <stdexcept>

struct [[gnu::visibility("default")]] library_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class thrown_by { first_branch, stolen_branch, task_of_group };

/// Always throws library_error with the text "thrown".
[[gnu::visibility("default")]] void run_in_library(thrown_by which);
