// The workload and size that a word of the command line such as "fib:38" stands for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workload.hpp"

namespace filch::cli {

struct workload_choice {
  const bench::workload* workload;
  std::string size;

  std::string label() const { return workload->name + ":" + size; }
  bool has_places() const { return workload->has_places; }
  std::unique_ptr<bench::instance> make() const { return workload->make(size); }
};

/// Which of a workload's sizes is meant where none is given.
using default_size = std::string bench::workload::*;

/// `text` is a name, or a name, a colon and a size; without a size the default one. Throws std::invalid_argument for an
/// unknown name; a bad size is found by make().
workload_choice choose_workload(const std::string& text, default_size otherwise = &bench::workload::default_size);

/// As choose_workload for each text, or all workloads when there are none. Sizes are checked too (each instance is
/// made once and dropped), so that a typing error is found before the first measurement, not after the last.
std::vector<workload_choice> choose_workloads(const std::vector<std::string>& texts,
                                              default_size otherwise = &bench::workload::default_size);

}  // namespace filch::cli
