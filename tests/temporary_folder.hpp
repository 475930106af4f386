// A folder for the files of a test.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace filch::tests {

/// New, and empty; there as long as this object. The same test may run several times side by side.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = testing::TempDir() + "filch_test_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  /// Writes a file, which may be in folders that are not there yet. Where it is.
  std::filesystem::path write(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& location() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace filch::tests
