#include "named_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "graph_file.hpp"
#include "grid_graph.hpp"
#include "random_local_graph.hpp"
#include "rmat_graph.hpp"

namespace filch::bench {
namespace {

constexpr int edges_per_vertex = 5;
constexpr std::uint64_t seed = 2013;

constexpr std::string_view file_prefix = "file/";

struct named_kind {
  std::string_view name;
  graph_kind kind;
  int dimensions;  // of a grid; otherwise 0
};

constexpr std::array kinds{
    named_kind{"grid2d", graph_kind::grid2d, 2},
    named_kind{"grid3d", graph_kind::grid3d, 3},
    named_kind{"rlg", graph_kind::random_local, 0},
    named_kind{"rmat", graph_kind::rmat, 0},
};

std::uint32_t power(std::uint32_t side, int dimensions) { return dimensions == 2 ? side * side : side * side * side; }

// The side of the grid whose number of vertices is nearest to that.
std::uint32_t nearest_side(std::uint32_t vertices, int dimensions) {
  const double root = dimensions == 2 ? std::sqrt(vertices) : std::cbrt(vertices);
  return std::max(1U, static_cast<std::uint32_t>(std::lround(root)));
}

}  // namespace

bool names_file(std::string_view size) { return size.starts_with(file_prefix); }

named_graph parse_graph(const size_context& context) {
  if (names_file(context.size)) {
    auto read =
        std::make_shared<const graph>(read_graph_file(context, std::string(context.size.substr(file_prefix.size()))));
    const auto vertices = static_cast<std::uint32_t>(read->vertices());
    return {graph_kind::file, vertices, std::move(read)};
  }
  const std::size_t slash = context.size.find('/');
  const std::string_view name = context.size.substr(0, slash);
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const named_kind& each) { return each.name == name; });
  if (slash == std::string_view::npos || found == kinds.end()) {
    reject_size(context, "does not begin with grid2d/, grid3d/, rlg/, rmat/ or file/");
  }
  const std::string_view number = context.size.substr(slash + 1);
  const auto vertices = static_cast<std::uint32_t>(parse_whole(context, number, 1, most_vertices));
  if (found->dimensions != 0) {
    const std::uint32_t nearest = power(nearest_side(vertices, found->dimensions), found->dimensions);
    if (nearest != vertices) {
      reject_size(context, fmt::format("has '{}', which is not a {} number; the nearest is {}", number,
                                       found->dimensions == 2 ? "square" : "cube", nearest));
    }
  }
  return {found->kind, vertices};
}

graph make_graph(const named_graph& of) {
  switch (of.kind) {
    case graph_kind::grid2d:
      return grid_graph(2, nearest_side(of.vertices, 2));
    case graph_kind::grid3d:
      return grid_graph(3, nearest_side(of.vertices, 3));
    case graph_kind::random_local:
      return random_local_graph(of.vertices, edges_per_vertex, seed);
    case graph_kind::file:
      return *of.from_file;
    case graph_kind::rmat:
      break;
  }
  return rmat_graph(of.vertices, std::uint64_t{of.vertices} * edges_per_vertex, seed);
}

std::vector<std::string> graph_sizes() {
  return {"grid2d/1000000", "grid3d/1000000", "rlg/1000000", "rlg/2000000", "rmat/1000000"};
}

}  // namespace filch::bench
