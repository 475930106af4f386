#include "output_file.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace filch::cli {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test.
class output_file_test : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.location() / name).string(); }

  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_.location()), {}); }

  void TearDown() override { unsetenv("TMPDIR"); }

  const tests::temporary_folder folder_;
};

TEST_F(output_file_test, creates_the_file_when_it_writes_and_nothing_else) {
  const output_file file(path("result"));
  EXPECT_EQ(files(), 0);
  file.write("new");
  EXPECT_EQ(content(path("result")), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(output_file_test, keeps_the_old_content_until_it_writes) {
  std::ofstream(path("result")) << "old and longer";
  const output_file file(path("result"));
  EXPECT_EQ(content(path("result")), "old and longer");
  file.write("new");
  EXPECT_EQ(content(path("result")), "new");
}

TEST_F(output_file_test, writes_through_a_link) {
  std::ofstream(path("result")) << "old";
  fs::create_symlink("result", path("link"));
  output_file(path("link")).write("new");
  EXPECT_EQ(content(path("result")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
}

TEST_F(output_file_test, refuses_a_folder_a_missing_folder_and_bad_names) {
  EXPECT_THROW(output_file(folder_.location().string()), std::invalid_argument);
  EXPECT_THROW(output_file(path("missing/result")), std::invalid_argument);
  EXPECT_THROW(output_file(""), std::invalid_argument);
  EXPECT_THROW(output_file(path(std::string(300, 'x'))), std::invalid_argument);
}

TEST_F(output_file_test, saves_elsewhere_what_it_cannot_write) {
  setenv("TMPDIR", folder_.location().c_str(), 1);
  fs::create_directory(path("folder"));
  const output_file removed(path("folder/result.json"));
  fs::remove(path("folder"));
  for (const output_file& each : {removed, output_file("/dev/full")}) {
    EXPECT_THROW(each.write("new"), std::runtime_error);
    ASSERT_EQ(files(), 1);
    const fs::path saved = fs::directory_iterator(folder_.location())->path();
    EXPECT_EQ(content(saved.string()), "new");
    fs::remove(saved);
  }
}

TEST_F(output_file_test, reports_that_nothing_can_be_written_anywhere) {
  setenv("TMPDIR", path("missing").c_str(), 1);
  const output_file full("/dev/full");
  EXPECT_THROW(full.write("new"), std::runtime_error);
}

}  // namespace
}  // namespace filch::cli
