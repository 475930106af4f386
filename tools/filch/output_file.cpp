#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "error_line.hpp"

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

bool write_all(std::FILE* file, std::string_view content) {
  return file != nullptr && std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
         std::fflush(file) == 0;
}

// For what may have taken hours to find. Returns the new file's name; nothing: there is no such file.
std::string save_elsewhere(const fs::path& path, std::string_view content) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return "";
  const std::string extension = path.extension().string();
  std::string name = (folder / ("filch-XXXXXX" + extension)).string();
  const int descriptor = mkstemps(name.data(), static_cast<int>(extension.size()));
  if (descriptor < 0) return "";
  const file_handle file{fdopen(descriptor, "w")};
  if (write_all(file.get(), content)) return name;
  fs::remove(name, error);
  return "";
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path) {
  if (is_stdout()) {
    return;
  }
  std::error_code error;  // what it is about is found out below, when the file is opened
  const fs::file_status status = fs::status(path_, error);
  if (path.empty() || fs::is_directory(status)) {
    refuse(path_, path.empty() ? "the name is empty" : "it is a directory");
  }
  if (fs::exists(status)) {
    path_ = fs::canonical(path_);  // renaming onto a link would replace the link
    if (access(path_.c_str(), W_OK) != 0) {
      refuse(path_, last_error());
    }
    if (!fs::is_regular_file(status)) {
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
  const std::error_code error = replace(content);
  if (!error) return;
  const std::string saved = save_elsewhere(path_, content);
  throw std::runtime_error(
      fmt::format("cannot write '{}': {}; {}", path_.string(), error.message(),
                  saved.empty() ? "it cannot be saved in TMPDIR either" : fmt::format("it is saved in '{}'", saved)));
}

bool output_file::try_write(std::string_view content) const {
  try {
    write(content);
    return true;
  } catch (const std::exception& error) {
    print_error(message_of(error));
    return false;
  }
}

std::error_code output_file::replace(std::string_view content) const {
  const fs::path& target = temporary_.empty() ? path_ : temporary_;
  const file_handle opened{is_stdout() ? nullptr : std::fopen(target.c_str(), "w")};
  std::error_code error;
  if (!write_all(is_stdout() ? stdout : opened.get(), content)) {
    error = {errno, std::generic_category()};
  } else if (!temporary_.empty()) {
    fs::rename(temporary_, path_, error);
  }
  std::error_code ignored;
  if (error && !temporary_.empty()) fs::remove(temporary_, ignored);
  return error;
}

}  // namespace filch::cli
