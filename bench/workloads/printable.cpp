#include "printable.hpp"

#include <algorithm>

namespace filch::bench {
namespace {

// Independent of the locale; bytes of UTF-8 stay as they are.
char printable_character(char c) {
  const auto code = static_cast<unsigned char>(c);
  if (c >= '\t' && c <= '\r') return ' ';
  return code < 0x20 || code == 0x7f ? '?' : c;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), printable_character);
  return result;
}

}  // namespace filch::bench
