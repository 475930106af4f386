#include "error_line.hpp"

#include <array>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "program.hpp"

namespace filch::cli {
namespace {

std::string printed(std::string_view message) {
  testing::internal::CaptureStderr();
  print_error(message);
  return testing::internal::GetCapturedStderr();
}

TEST(error_line, begins_with_the_name_of_the_program_once) {
  EXPECT_EQ(printed("no"), "filch: no\n");
  EXPECT_EQ(printed("filch: no"), "filch: no\n");
}

TEST(error_line, is_one_line_that_a_terminal_does_not_obey) {
  EXPECT_EQ(printed("a\nb\tc\rd"), "filch: a b c d\n");
  EXPECT_EQ(printed("\x1b[2J\x07\x7f"), "filch: ?[2J??\n");
  EXPECT_EQ(printed(std::string_view("a\0b", 3)), "filch: a?b\n");
  EXPECT_EQ(printed("µs"), "filch: µs\n");
}

int status_of_throwing(void (*throwing)(), std::string& error) {
  const program what{.summary = "test", .commands = {[throwing](CLI::App& root) -> command {
                                          return {root.add_subcommand("go", "Throws"), [throwing] {
                                                    throwing();
                                                    return exit_success;
                                                  }};
                                        }}};
  const std::array<const char*, 2> words{"filch", "go"};
  testing::internal::CaptureStderr();
  const int status = run_program(static_cast<int>(words.size()), words.data(), what);
  error = testing::internal::GetCapturedStderr();
  return status;
}

TEST(error_line, of_too_little_memory_says_what_helps) {
  std::string error;
  EXPECT_EQ(status_of_throwing([] { throw std::bad_alloc(); }, error), exit_failure);
  EXPECT_EQ(error, "filch: there is not enough memory for what was asked; give a smaller size\n");
  EXPECT_EQ(status_of_throwing([] { throw std::bad_array_new_length(); }, error), exit_failure);
  EXPECT_EQ(error, "filch: there is not enough memory for what was asked; give a smaller size\n");
}

TEST(error_line, has_the_name_of_the_program_nowhere_else) {
  EXPECT_EQ(message_of(std::runtime_error("filch: no")), "no");
  EXPECT_EQ(message_of(std::runtime_error("no filch: ")), "no filch: ");
}

TEST(error_line, tells_misuse_from_failure) {
  std::string error;
  EXPECT_EQ(status_of_throwing([] { throw std::invalid_argument("a\nb"); }, error), exit_misuse);
  EXPECT_EQ(error, "filch: a b\n");
  EXPECT_EQ(status_of_throwing([] { throw std::runtime_error("c"); }, error), exit_failure);
  EXPECT_EQ(error, "filch: c\n");
}

}  // namespace
}  // namespace filch::cli
