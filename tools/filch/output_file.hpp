// A file that results are written to when they are complete: either the whole new content appears, or the old file
// stays as it was. Whether the file can be written is found out at once, before long measurements.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace filch::cli {

class output_file {
 public:
  /// "-" is standard output. Throws std::invalid_argument when `path` is a directory or cannot be written.
  explicit output_file(const std::string& path);

  bool is_stdout() const { return path_ == "-"; }

  /// Throws std::runtime_error when writing fails: a file that existed is then unchanged, and the content is saved in
  /// the folder of temporary files, under a name that the message tells.
  void write(std::string_view content) const;
  /// As write, for those who have more to do: prints the message, and returns false, when writing fails.
  bool try_write(std::string_view content) const;

 private:
  std::error_code replace(std::string_view content) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< beside `path_`; empty when that is no regular file and is written directly
};

}  // namespace filch::cli
