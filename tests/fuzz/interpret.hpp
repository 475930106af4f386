// Runs a program on filch, and compares what it does with the prediction.
#pragma once

#include <memory>
#include <vector>

#include <filch/filch.hpp>

#include "oracle.hpp"
#include "program.hpp"

namespace filch::fuzz {

class machine;

/// A program and the schedulers that it runs on.
class interpreter {
 public:
  interpreter(const program& p, const prediction& expected);
  ~interpreter();
  interpreter(const interpreter&) = delete;
  interpreter& operator=(const interpreter&) = delete;

  /// Runs it once; fails if anything is not as predicted.
  void run();

 private:
  std::unique_ptr<machine> machine_;
};

}  // namespace filch::fuzz
