#include "graph_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace filch::bench {
namespace {

constexpr std::string_view adjacency_header = "AdjacencyGraph";
constexpr std::string_view edges_header = "EdgeArray";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string text_of(const size_context& context, const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) reject_size(context, "names a folder, not a file");
  // Devices and pipes may have no end.
  const bool is_other = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (is_other) reject_size(context, "names a device, a pipe or a socket, not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) reject_size(context, "names a file that does not exist or cannot be read");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) reject_size(context, "names a file that cannot be read to its end");
  return text;
}

// The words of a file, one after the other, and in which line they are.
class words {
 public:
  words(const size_context& context, std::string_view text) : context_(context), left_(text) {}

  // The next word, which is left where it is. Empty at the end of the file.
  std::string_view look() {
    for (; !left_.empty() && is_space(left_.front()); left_.remove_prefix(1)) {
      if (left_.front() == '\n') ++line_;
    }
    return left_.substr(0,
                        static_cast<std::size_t>(std::find_if(left_.begin(), left_.end(), is_space) - left_.begin()));
  }

  void skip(std::string_view word) { left_.remove_prefix(word.size()); }
  void skip_line() { left_.remove_prefix(std::min(left_.find('\n'), left_.size())); }

  // The next word as a number below `end`. `what` it is, for errors.
  std::uint64_t number(std::string_view what, std::uint64_t end, std::string_view of_end) {
    const std::string_view word = look();
    if (word.empty()) reject(fmt::format("ends where {} should be", what));
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::invalid_argument || stop != word.data() + word.size()) {
      reject(fmt::format("has '{}', which is not {}", word.substr(0, 40), what));
    }
    if (error != std::errc() || value >= end) {
      reject(fmt::format("has {} '{}', which is not below {}", what, word.substr(0, 40), of_end));
    }
    skip(word);
    return value;
  }

  [[noreturn]] void reject(std::string_view reason) const { reject(line_, reason); }
  [[noreturn]] void reject(std::size_t line, std::string_view reason) const {
    reject_size(context_, fmt::format("names a file whose line {} {}", line, reason));
  }

  std::size_t bytes_left() const { return left_.size(); }
  std::size_t line() const { return line_; }

 private:
  const size_context& context_;
  std::string_view left_;
  std::size_t line_ = 1;
};

graph read_adjacency(words& file) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t vertices =
      file.number("a number of vertices", most_vertices + 1ULL,
                  fmt::format("{}, one past the largest number of vertices", most_vertices + 1));
  if (vertices == 0) file.reject("says that there are no vertices");
  const std::uint64_t ends = file.number("a number of neighbours", any, "what 64 bits can hold");
  // Each number takes a digit and a space: nothing is allocated for a file that cannot have so many.
  if (vertices + std::min(ends, any / 2) > file.bytes_left() / 2 + 1) {
    file.reject(fmt::format("promises {} vertices and {} neighbours, more than there are in the rest of the file",
                            vertices, ends));
  }
  std::vector<std::uint64_t> offsets(vertices + 1, ends);
  for (std::uint64_t v = 0; v < vertices; ++v) {
    offsets[v] = file.number("an offset", ends + 1, fmt::format("{}, one past the number of neighbours", ends + 1));
    if (offsets[v] < (v == 0 ? 0 : offsets[v - 1]) || (v == 0 && offsets[0] != 0)) {
      file.reject(fmt::format("has offset '{}' of vertex {}, which is not in ascending order from 0", offsets[v], v));
    }
  }
  std::vector<edge> edges;
  edges.reserve(ends);
  const std::string of_end = fmt::format("{}, the number of vertices", vertices);
  for (std::uint64_t v = 0; v < vertices; ++v) {
    for (std::uint64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
      const std::uint64_t neighbour = file.number("a vertex", vertices, of_end);
      edges.push_back({static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(neighbour)});
    }
  }
  if (const std::string_view more = file.look(); !more.empty()) {
    file.reject(fmt::format("has '{}' after the last neighbour", more.substr(0, 40)));
  }
  return graph_of(static_cast<std::uint32_t>(vertices), edges);
}

graph read_edges(words& file) {
  std::vector<edge> edges;
  std::uint64_t vertices = 0;
  const std::string of_end = fmt::format("{}, the largest number of vertices", most_vertices);
  for (std::string_view word = file.look(); !word.empty(); word = file.look()) {
    if (word.front() == '#' || word.front() == '%') {
      file.skip_line();
      continue;
    }
    const std::uint64_t from = file.number("a vertex", most_vertices, of_end);
    const std::size_t line = file.line();
    if (const std::string_view second = file.look(); second.empty() || file.line() != line) {
      file.reject(line, fmt::format("has vertex '{}' alone, which is no edge", from));
    }
    const std::uint64_t to = file.number("a vertex", most_vertices, of_end);
    if (const std::string_view next = file.look(); !next.empty() && file.line() == line) {
      file.reject(fmt::format("has '{}' after an edge", next.substr(0, 40)));
    }
    vertices = std::max({vertices, from + 1, to + 1});
    edges.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
  }
  if (edges.empty()) file.reject("ends the file, which has no edges");
  return graph_of(static_cast<std::uint32_t>(vertices), edges);
}

}  // namespace

graph read_graph_file(const size_context& context, const std::string& path) {
  const std::string text = text_of(context, path);
  words file(context, text);
  const std::string_view first = file.look();
  if (first.empty()) {
    reject_size(context,
                text.empty() ? "names a file that is empty" : "names a file that is empty but for white space");
  }
  if (first == adjacency_header) {
    file.skip(first);
    return read_adjacency(file);
  }
  if (first == edges_header) {
    file.skip(first);
    return read_edges(file);
  }
  const bool is_list = first.front() == '#' || first.front() == '%' || (first.front() >= '0' && first.front() <= '9');
  if (!is_list) {
    file.reject(fmt::format("begins with '{}', which is neither {}, {}, nor an edge", first.substr(0, 40),
                            adjacency_header, edges_header));
  }
  return read_edges(file);
}

}  // namespace filch::bench
