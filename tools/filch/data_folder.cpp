#include "data_folder.hpp"

#include "sibling_program.hpp"

namespace filch::cli {

namespace {

std::filesystem::path data_folder() { return program_folder() / FILCH_BIN_TO_DATA; }

}  // namespace

std::filesystem::path machine_folder() { return (data_folder() / "machines").lexically_normal(); }

std::filesystem::path reproduction_folder() { return (data_folder() / "reproduce").lexically_normal(); }

}  // namespace filch::cli
