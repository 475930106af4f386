// What the sources say about their memory orders: "// [AB1] release: what for".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vm/explorer/mutation.hpp"

namespace filch::explore {

class tags {
 public:
  /// The tag that stands at an operation, or "".
  std::string at(const platform::vm::site_key& where);
  /// Is the tag mentioned in that file of the sources?
  [[nodiscard]] bool is_in(const std::string& tag, const std::string& file);
  /// Does the comment that defines the tag, in a file that was asked for, say why a weaker order is not noticed?
  [[nodiscard]] bool explains(const std::string& tag) const;

 private:
  const std::vector<std::string>& text_of(const std::string& file);
  std::map<std::string, std::vector<std::string>> texts_;
};

}  // namespace filch::explore
