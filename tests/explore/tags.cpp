#include "tags.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string_view>

#include "source_path.hpp"

namespace filch::explore {
namespace {

constexpr std::string_view opening = "// [";

/// The tag whose opening is there.
std::string tag_at(const std::string& line, std::size_t opens) {
  const std::size_t from = opens + opening.size();
  return line.substr(from, line.find(']', from) - from);
}

/// The tag that the line defines: a comment that begins with it. "" for all other lines, comments that mention one
/// among them.
std::string defined_in(const std::string& line) {
  const std::size_t begins = line.find_first_not_of(' ');
  return begins != std::string::npos && line.compare(begins, opening.size(), opening) == 0 ? tag_at(line, begins) : "";
}

bool is_comment(const std::string& line) {
  const std::size_t begins = line.find_first_not_of(' ');
  return begins != std::string::npos && line.compare(begins, 2, "//") == 0;
}

}  // namespace

std::string tags::at(const platform::vm::site_key& where) {
  const auto& lines = text_of(source_path(where.file).string());
  if (where.line > lines.size()) return {};
  const std::string& own = lines[where.line - 1];
  if (const std::size_t opens = own.find(opening); opens != std::string::npos) return tag_at(own, opens);
  // Or else the nearest comment above that gives the reasons.
  for (std::size_t up = 1; up < 10 && up < where.line; ++up) {
    if (std::string tag = defined_in(lines[where.line - 1 - up]); !tag.empty()) return tag;
  }
  return {};
}

bool tags::is_in(const std::string& tag, const std::string& file) {
  const auto& lines = text_of(source_path(std::string(FILCH_SOURCE_DIR "/") + file).string());
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find('[' + tag + ']') != std::string::npos; });
}

bool tags::explains(const std::string& tag) const {
  if (tag.empty()) return false;
  return std::any_of(texts_.begin(), texts_.end(), [&](const auto& text) {
    const std::vector<std::string>& lines = text.second;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (defined_in(lines[i]) != tag) continue;
      // To the end of the comment, or to the next tag's reasons in it.
      for (std::size_t k = i; k < lines.size() && is_comment(lines[k]); ++k) {
        if (k != i && !defined_in(lines[k]).empty()) break;
        if (lines[k].find("No exploration") != std::string::npos) return true;
      }
    }
    return false;
  });
}

const std::vector<std::string>& tags::text_of(const std::string& file) {
  auto& lines = texts_[file];
  if (lines.empty()) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  }
  return lines;
}

}  // namespace filch::explore
