// recorded: the graph of tasks that a profile has of a program (docs/profile.md), run again: strands take the time that they
// took, forks and loops are filch's or a peer's. `filch profile` asks so how fast the program would be with more workers.
//
// The file has numbers, as src/worker/profile_recorder.hpp says: the time of a strand in nanoseconds, or a token.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <filch/vm.hpp>

#include "catalogue.hpp"
#include "spin_work.hpp"
#include "with_peer.hpp"

namespace filch::bench {
namespace {

namespace token {
constexpr std::int64_t task = -1;
constexpr std::int64_t task_end = -2;
constexpr std::int64_t construct = -3;
constexpr std::int64_t join = -4;
constexpr std::int64_t loop = -5;
constexpr std::int64_t loop_end = -6;
constexpr std::int64_t run = -7;
}  // namespace token

/// What is nested deeper would need more stack than a worker has.
constexpr std::size_t deepest = 2000;
/// Runs of a loop are divided into so many pieces at most, of a microsecond at least.
constexpr std::int64_t most_pieces = 4096;
constexpr std::int64_t least_piece_ns = 1000;

/// A piece of a loop: a task's tokens, or a time.
struct piece {
  std::size_t task;  ///< where its token is; 0: none
  std::int64_t ns;
};

/// The tokens, and where what each of them begins has its end.
class task_graph_file {
 public:
  explicit task_graph_file(const std::string& path) {
    std::ifstream in(path);
    std::int64_t each = 0;
    while (in >> each) tokens_.push_back(each);
    if (path == "example") {
      tokens_ = example();
    } else if (tokens_.empty() || !in.eof()) {
      throw std::invalid_argument(fmt::format(
          "size '{}' of workload 'recorded' is no file with a graph of tasks; let 'filch profile' write one", path));
    }
    find_ends(path);
  }

  std::int64_t at(std::size_t i) const { return tokens_[i]; }
  std::size_t size() const { return tokens_.size(); }
  /// Of a token that begins something: where that ends, one past its last token.
  std::size_t end(std::size_t i) const { return ends_[i]; }
  const std::vector<piece>& pieces(std::size_t loop) const {
    return loops_[static_cast<std::size_t>(ends_of_loops_[loop])];
  }
  std::int64_t work_ns() const { return work_ns_; }
  std::uint64_t tasks() const { return tasks_; }

 private:
  /// Two roots: a loop with forks in some of its iterations, and a tree of forks.
  static std::vector<std::int64_t> example() {
    using namespace token;
    std::vector<std::int64_t> tokens{task, 500, loop, run, 1000, 200'000};
    for (int i = 0; i < 40; ++i)
      tokens.insert(tokens.end(), {task, construct, task, 4000, task_end, 5000, join, task_end});
    tokens.insert(tokens.end(), {loop_end, 700, task_end, task});
    constexpr int depth = 6;
    for (int i = 0; i < depth; ++i) tokens.insert(tokens.end(), {construct, task, 20'000, task_end, 1000});
    for (int i = 0; i < depth; ++i) tokens.insert(tokens.end(), {join, 300});
    tokens.push_back(task_end);
    return tokens;
  }

  static std::int64_t opposite(std::int64_t begin) {
    return begin == token::task ? token::task_end : begin == token::construct ? token::join : token::loop_end;
  }

  void find_ends(const std::string& path) {
    ends_.assign(tokens_.size(), tokens_.size());
    ends_of_loops_.assign(tokens_.size(), -1);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::int64_t each = tokens_[i];
      if (each == token::task || each == token::construct || each == token::loop) {
        open.push_back(i);
        if (each == token::task) ++tasks_;
      } else if (each == token::run) {
        i += 2;
        if (i >= tokens_.size() || tokens_[i - 1] < 1 || tokens_[i] < 0) reject(path);
        work_ns_ += tokens_[i];
      } else if (each >= 0) {
        work_ns_ += each;
      } else {
        // A task's end ends what it has left open, too.
        while (!open.empty() && opposite(tokens_[open.back()]) != each) {
          ends_[open.back()] = i;
          open.pop_back();
        }
        if (open.empty()) reject(path);
        ends_[open.back()] = i + 1;
        open.pop_back();
      }
      if (open.size() > deepest) {
        throw std::invalid_argument(
            fmt::format("the tasks of '{}' are nested deeper than {}; a smaller input of the "
                        "program may have fewer levels",
                        path, deepest));
      }
    }
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i] == token::run) {
        i += 2;
      } else if (tokens_[i] == token::loop) {
        find_pieces(i);
      }
    }
  }

  void find_pieces(std::size_t loop) {
    std::vector<piece> pieces;
    std::int64_t all_ns = 0;
    const auto each_run = [&](const auto& f) {
      for (std::size_t i = loop + 1; i < ends_[loop];) {
        if (tokens_[i] == token::run) {
          f(0, tokens_[i + 1], tokens_[i + 2]);
          i += 3;
        } else if (tokens_[i] == token::task) {
          f(i, 1, 0);
          i = ends_[i];
        } else {
          if (tokens_[i] >= 0) f(0, 1, tokens_[i]);
          ++i;
        }
      }
    };
    each_run([&](std::size_t, std::int64_t, std::int64_t ns) { all_ns += ns; });
    each_run([&](std::size_t task, std::int64_t parts, std::int64_t ns) {
      const std::int64_t most = std::max<std::int64_t>(1, most_pieces * ns / std::max<std::int64_t>(1, all_ns));
      const std::int64_t n = std::clamp<std::int64_t>(ns / least_piece_ns, 1, std::min(parts, most));
      for (std::int64_t k = 0; k < n; ++k) pieces.push_back({task, ns * (k + 1) / n - ns * k / n});
    });
    ends_of_loops_[loop] = static_cast<std::int64_t>(loops_.size());
    loops_.push_back(std::move(pieces));
  }

  [[noreturn]] static void reject(const std::string& path) {
    throw std::invalid_argument(fmt::format(
        "size '{}' of workload 'recorded' is a file whose tokens do not match; let 'filch profile' write it "
        "again",
        path));
  }

  std::vector<std::int64_t> tokens_;
  std::vector<std::size_t> ends_;
  std::vector<std::int64_t> ends_of_loops_;  ///< by token: which of the loops
  std::vector<std::vector<piece>> loops_;
  std::int64_t work_ns_ = 0;
  std::uint64_t tasks_ = 0;
};

/// On real processors a step of a nanosecond or so each.
inline void take(std::int64_t ns) {
  vm::charge(static_cast<double>(ns));
  if (vm::price("spin_step") == 0) static_cast<void>(spin(1, static_cast<std::uint64_t>(ns)));
}

template <class Peer>
class graph_run {
 public:
  explicit graph_run(const task_graph_file& graph) : graph_(graph) {}

  /// Its sum of times, so that every strand is known to have run.
  std::int64_t task(std::size_t begin) const { return items(begin + 1, graph_.end(begin)); }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): the graph's own.
  std::int64_t items(std::size_t at, std::size_t end) const {
    std::int64_t sum = 0;
    std::vector<std::unique_ptr<std::int64_t>> sums;  // of tasks, which end in any order
    typename Peer::group tasks;
    while (at < end) {
      const std::int64_t each = graph_.at(at);
      if (each >= 0) {
        take(each);
        sum += each;
        ++at;
      } else if (each == token::task) {
        sums.push_back(std::make_unique<std::int64_t>(0));
        tasks.run([this, at, to = sums.back().get()] { *to = task(at); });
        at = graph_.end(at);
      } else if (each == token::construct) {
        sum += items(at + 1, graph_.end(at));
        at = graph_.end(at);
      } else if (each == token::loop) {
        sum += loop(at);
        at = graph_.end(at);
      } else {
        ++at;  // what ends here
      }
    }
    tasks.wait();
    for (const auto& of_task : sums) sum += *of_task;
    return sum;
  }

  std::int64_t loop(std::size_t at) const {
    const std::vector<piece>& pieces = graph_.pieces(at);
    std::vector<std::int64_t> sums(pieces.size());
    Peer::for_each_index(pieces.size(), [&](std::uint64_t i) {
      const piece& each = pieces[i];
      if (each.task != 0) {
        sums[i] = task(each.task);
      } else {
        take(each.ns);
        sums[i] = each.ns;
      }
    });
    std::int64_t sum = 0;
    for (const std::int64_t of_piece : sums) sum += of_piece;
    return sum;
  }

  const task_graph_file& graph_;
};

class recorded_instance final : public instance {
 public:
  explicit recorded_instance(const std::string& path) : graph_(path) {}

  void prepare() override { sum_ns_ = -1; }

  void run(runner on) override {
    spin_step.look_up();
    sum_ns_ = with_peer(on, [&]<class Peer>() {
      std::int64_t sum = 0;
      const graph_run<Peer> of(graph_);
      // One root after the other.
      for (std::size_t root = 0; root < graph_.size(); root = graph_.end(root)) sum += of.task(root);
      return sum;
    });
  }

  std::string result() const override { return fmt::format("{} ns", sum_ns_); }
  bool verify() const override { return sum_ns_ == graph_.work_ns(); }
  std::uint64_t tasks() const override { return graph_.tasks(); }

 private:
  task_graph_file graph_;
  std::int64_t sum_ns_ = -1;
};

std::unique_ptr<instance> make_recorded(std::string_view size) {
  return std::make_unique<recorded_instance>(std::string(size));
}

}  // namespace

workload recorded_workload() {
  return {"recorded",    "the graph of tasks of a program, as 'filch profile' has recorded it; recorded:FILE reads one",
          "example",     {"example"},
          make_recorded, "example"};
}

}  // namespace filch::bench
