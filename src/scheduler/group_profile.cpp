#include "scheduler/group_profile.hpp"

#include <algorithm>

#include "scheduler/process_profile.hpp"

namespace filch::detail {
namespace {

/// What takes less is no task of the graph.
constexpr std::int64_t least_task_ns = 1'000;

}  // namespace

group_profile::group_profile() {
  all_.graph = {graph_token::task, graph_token::construct, graph_token::join, graph_token::task_end};
}

group_profile::~group_profile() {
  all_.roots = 1;
  process_profile::add(all_);
}

void group_profile::add(const profiled_work& root) {
  all_.span_ns = std::max(all_.span_ns, root.span_ns);
  // The roots before it were forked off first.
  all_.forks = std::max(all_.forks, root.forks + static_cast<std::uint32_t>(all_.roots));
  all_.add_counts(root);
  std::vector<std::int64_t>& graph = all_.graph;
  const auto join = graph.end() - 2;
  if (root.work_ns >= least_task_ns) {
    graph.insert(join, root.graph.begin(), root.graph.end());
  } else if (*(join - 1) >= 0) {
    *(join - 1) += root.work_ns;
  } else {
    graph.insert(join, root.work_ns);
  }
}

}  // namespace filch::detail
