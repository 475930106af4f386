#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace filch::cli {

namespace fs = std::filesystem;

namespace {

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

std::string last_error() { return std::generic_category().message(errno); }

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw std::invalid_argument(
      fmt::format("cannot write '{}': {}; name a file in a folder that exists and is writable", path.string(), reason));
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path) {
  if (is_stdout()) {
    return;
  }
  if (path.empty() || fs::is_directory(path_)) {
    refuse(path_, path.empty() ? "the name is empty" : "it is a directory");
  }
  if (fs::exists(path_)) {
    path_ = fs::canonical(path_);  // renaming onto a link would replace the link
    if (access(path_.c_str(), W_OK) != 0) {
      refuse(path_, last_error());
    }
    if (!fs::is_regular_file(path_)) {
      return;
    }
  }
  temporary_ = path_;
  temporary_ += fmt::format(".{}.partial", getpid());
  if (!file_handle{std::fopen(temporary_.c_str(), "wx")}) {
    refuse(path_, last_error());
  }
  fs::remove(temporary_);
}

void output_file::write(std::string_view content) const {
  const fs::path& target = temporary_.empty() ? path_ : temporary_;
  const file_handle opened{is_stdout() ? nullptr : std::fopen(target.c_str(), "w")};
  std::FILE* const file = is_stdout() ? stdout : opened.get();
  const bool is_written = file != nullptr && std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
                          std::fflush(file) == 0;
  if (!is_written) {
    const std::string reason = last_error();
    std::error_code ignored;
    if (!temporary_.empty()) {
      fs::remove(temporary_, ignored);
    }
    throw std::runtime_error(fmt::format("cannot write '{}': {}", path_.string(), reason));
  }
  if (!temporary_.empty()) {
    fs::rename(temporary_, path_);
  }
}

}  // namespace filch::cli
