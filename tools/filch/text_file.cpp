#include "text_file.hpp"

#include <fstream>
#include <iterator>

namespace filch::cli {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace filch::cli
