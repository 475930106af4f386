#include "worker/profile_recorder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "platform/clock.hpp"
#include "worker/loop_share.hpp"
#include "worker/worker.hpp"

namespace filch::detail {
namespace {

/// Loops are cut no finer: what takes less is better run by one.
constexpr std::int64_t least_piece_ns = 1'000;
/// In a longer strand the thread may have lost its processor for a while.
constexpr std::int64_t long_strand_ns = 50'000;
/// Pieces of a loop that are alike become one, unless they are such a share of it.
constexpr std::int64_t share_of_loop = 64;

void add_to(std::map<std::string, profiled_part>& all, const std::map<std::string, profiled_part>& later) {
  for (const auto& [name, part] : later) {
    profiled_part& of = all[name];
    of.calls += part.calls;
    of.iterations += part.iterations;
    of.work_ns += part.work_ns;
    of.span_ns += part.span_ns;
  }
}

/// Measured once in a process: that takes longer than many a root.
std::int64_t empty_strand_ns() noexcept {
  static const std::int64_t known_ns = [] {
    std::int64_t least_ns = 1'000;
    for (int i = 0; i < 1'000; ++i) {
      const std::int64_t since_ns = platform::now_ns();
      least_ns = std::min(least_ns, platform::now_ns() - since_ns);
    }
    return least_ns;
  }();
  return known_ns;
}

/// So many of so many iterations can be run beside each other: of a grain each, but for the last one.
std::uint64_t parts_of(const loop_state& whole, std::uint64_t iterations) noexcept {
  return iterations / whole.grain + (iterations % whole.grain != 0 ? 1 : 0);
}

}  // namespace

void profiled_work::add_counts(const profiled_work& other) {
  roots += other.roots;
  tasks += other.tasks;
  work_ns += other.work_ns;
  add_to(loops, other.loops);
  add_to(named, other.named);
}

void profiled_work::add(const profiled_work& later) {
  add_counts(later);
  span_ns += later.span_ns;
  forks = std::max(forks, later.forks);
  graph.insert(graph.end(), later.graph.begin(), later.graph.end());
}

/// While it exists no strand is measured: it is the recorder's own time.
class profile_recorder::no_strand {
 public:
  explicit no_strand(profile_recorder& r) noexcept : r_(r) { r_.pause(); }
  ~no_strand() { r_.resume(); }
  no_strand(const no_strand&) = delete;
  no_strand& operator=(const no_strand&) = delete;

 private:
  profile_recorder& r_;
};

profile_recorder::profile_recorder(std::int64_t since_ns) noexcept
    : since_ns_(since_ns), clock_ns_(empty_strand_ns()) {}

void profile_recorder::look_at_clocks() noexcept {
  constexpr std::int64_t at_once_ns = 20'000;
  do {
    processor_time_at_ns_ = platform::now_ns();
    processor_time_ = platform::time_of_this_thread();
  } while (platform::now_ns() - processor_time_at_ns_ > at_once_ns);  // it lost the processor in between
}

std::int64_t profile_recorder::preempted_ns(std::int64_t strand_ns) noexcept {
  const platform::processor_time before = processor_time_;
  const std::int64_t before_ns = processor_time_at_ns_;
  look_at_clocks();
  // A strand that sleeps takes its time.
  if (processor_time_.waits != before.waits) return 0;
  const std::int64_t had_ns = processor_time_.ns - before.ns;
  return std::clamp<std::int64_t>(processor_time_at_ns_ - before_ns - had_ns, 0, strand_ns - 1);
}

void profile_recorder::pause() noexcept {
  paused_at_ns_ = platform::now_ns();
  std::int64_t ns = std::max<std::int64_t>(0, paused_at_ns_ - strand_since_ns_ - clock_ns_);
  if (ns > long_strand_ns) ns -= preempted_ns(ns);
  done_.work_ns += ns;
  now_.ns += ns;
  add_strand(ns);
}

void profile_recorder::resume() noexcept {
  // Where the recorder's own time was long, others had the processor: that is not to be taken off the next strand.
  strand_since_ns_ = platform::now_ns();
  if (strand_since_ns_ - paused_at_ns_ <= long_strand_ns) return;
  look_at_clocks();
  strand_since_ns_ = platform::now_ns();
}

void profile_recorder::add_strand(std::int64_t ns) {
  if (ns == 0) return;
  if (!done_.graph.empty() && done_.graph.back() >= 0) {
    // Not the time of a run, which ends a piece.
    done_.graph.back() += ns;
  } else {
    done_.graph.push_back(ns);
  }
}

void profile_recorder::begin_root() {
  done_ = {};
  done_.roots = 1;
  now_ = {};
  frames_.clear();
  done_.graph.push_back(graph_token::task);
  resume();
}

profiled_work profile_recorder::end_root() noexcept {
  join(of_group_);
  pause();
  done_.span_ns = now_.ns;
  done_.forks = now_.forks;
  done_.graph.push_back(graph_token::task_end);
  return std::exchange(done_, {});
}

void profile_recorder::begin_task() {
  frames_.push_back({now_, done_.work_ns, done_.graph.size()});
  done_.graph.push_back(graph_token::task);
  ++now_.forks;
}

void profile_recorder::end_task() {
  const frame ended = frames_.back();
  frames_.pop_back();
  const std::int64_t ns = done_.work_ns - ended.work_ns;
  if (ns < threshold_ns_) {
    done_.graph.resize(ended.begin);
    add_strand(ns);
  } else {
    done_.graph.push_back(graph_token::task_end);
  }
  now_ = ended.at;
}

void profile_recorder::begin_child(profiled_construct& of) noexcept {
  const no_strand here(*this);
  if (!of.is_open) {
    of = {.end = now_, .is_open = true, .frame = frames_.size(), .begin = done_.graph.size()};
    done_.graph.push_back(graph_token::construct);
    ++constructs_;
  }
  ++done_.tasks;
  begin_task();
}

void profile_recorder::end_child(profiled_construct& of) noexcept {
  const no_strand here(*this);
  of.end.meet(now_);
  end_task();
  ++now_.forks;  // what the forking task does next is forked off, too
  raise_threshold();
}

void profile_recorder::join(profiled_construct& of) noexcept {
  if (!of.is_open) return;
  const no_strand here(*this);
  now_.meet(of.end);
  // A construct that was opened elsewhere ends there in the graph.
  if (of.frame == frames_.size() && of.begin < done_.graph.size()) {
    const auto begin = done_.graph.begin() + static_cast<std::ptrdiff_t>(of.begin);
    if (std::find(begin, done_.graph.end(), graph_token::task) == done_.graph.end() &&
        std::find(begin, done_.graph.end(), graph_token::loop) == done_.graph.end()) {
      std::int64_t ns = 0;
      std::for_each(begin + 1, done_.graph.end(), [&](std::int64_t token) { ns += std::max<std::int64_t>(0, token); });
      done_.graph.resize(of.begin);
      add_strand(ns);
    } else {
      done_.graph.push_back(graph_token::join);
    }
  }
  of = {};
}

profiled_path profile_recorder::path() noexcept {
  const no_strand here(*this);
  return now_;
}

void profile_recorder::follow(const profiled_path& other) noexcept {
  const no_strand here(*this);
  now_.meet(other);
}

void profile_recorder::raise_threshold() noexcept {
  if (done_.graph.size() < most_tokens_) return;
  threshold_ns_ *= 4;
  most_tokens_ += std::size_t{1} << 16;
}

// Adjacent runs are one unless they are long.
void profile_recorder::add_run(std::size_t loop_begin, std::int64_t parts, std::int64_t ns, std::int64_t loop_ns) {
  std::vector<std::int64_t>& graph = done_.graph;
  const std::size_t size = graph.size();
  if (size >= loop_begin + 4 && graph[size - 3] == graph_token::run &&
      graph[size - 1] + ns < std::max(threshold_ns_, loop_ns / share_of_loop)) {
    graph[size - 2] += parts;
    graph[size - 1] += ns;
    return;
  }
  graph.push_back(graph_token::run);
  graph.push_back(parts);
  graph.push_back(ns);
}

void profile_recorder::run_loop(worker_core& w, loop_state& whole, std::uint64_t low, std::uint64_t high) noexcept {
  pause();
  const profiled_path begun = now_;
  const std::int64_t work_before = done_.work_ns;
  profiled_part& of_all = done_.loops[whole.code.name];
  ++of_all.calls;
  ++of_all.open;
  of_all.iterations += high - low;
  const std::size_t loop_begin = done_.graph.size();
  done_.graph.push_back(graph_token::loop);
  profiled_path end = now_;
  std::uint64_t size = whole.grain;
  const std::uint64_t from = low;
  while (low < high) {
    const std::uint64_t iterations = std::min(size, high - low);
    const std::uint64_t constructs = constructs_;
    const std::int64_t piece_before = done_.work_ns;
    begin_task();
    resume();
    whole.code.run_part(w, whole, low, low + iterations, 0, part_origin::taken_back);
    pause();
    low += iterations;
    const std::int64_t ns = done_.work_ns - piece_before;
    const std::int64_t loop_ns = done_.work_ns - work_before;
    if (constructs_ != constructs) {
      // There is parallelism inside. Where several iterations were run, they count as one after the other.
      end.meet(now_);
      end_task();
      size = whole.grain;
    } else {
      // Nothing but strands: parts alike, of which a few make a piece that is worth a task.
      const auto parts = static_cast<std::int64_t>(parts_of(whole, iterations));
      const std::int64_t one_ns = ns / parts;
      end.meet({begun.ns + std::max(one_ns, std::min(ns, least_piece_ns)), begun.forks});
      done_.graph.resize(frames_.back().begin);
      frames_.pop_back();
      add_run(loop_begin, parts, ns, loop_ns);
      if (ns < std::max(least_piece_ns, loop_ns / share_of_loop)) size *= 2;
    }
    now_ = begun;
  }
  const std::int64_t work_ns = done_.work_ns - work_before;
  if (work_ns < threshold_ns_) {
    done_.graph.resize(loop_begin);
    add_strand(work_ns);
  } else {
    done_.graph.push_back(graph_token::loop_end);
    ++constructs_;
  }
  if (const std::uint64_t parts = parts_of(whole, high - from); parts > 1)
    end.forks += static_cast<std::uint32_t>(std::bit_width(parts - 1));  // halved until there is one
  now_.meet(end);
  end_call(of_all, {work_before, begun.ns});
  raise_threshold();
  resume();
}

// Of calls inside of each other the outermost counts.
void profile_recorder::end_call(profiled_part& of, const part& begun) noexcept {
  if (--of.open != 0) return;
  of.work_ns += done_.work_ns - begun.work_ns;
  of.span_ns += now_.ns - begun.path_ns;
}

profile_recorder::part profile_recorder::begin_part(const char* name) noexcept {
  const no_strand here(*this);
  profiled_part& of = done_.named[name];
  ++of.calls;
  ++of.open;
  return {done_.work_ns, now_.ns};
}

void profile_recorder::end_part(const char* name, const part& begun) noexcept {
  const no_strand here(*this);
  end_call(done_.named[name], begun);
}

bool is_profiled(const worker_core& w) noexcept {
  return &w != &foreign_worker && static_cast<const worker&>(w).profile != nullptr;
}

profiled_child::profiled_child(profiled_construct* of) noexcept : of_(of) {
  if (of_ != nullptr) static_cast<worker&>(*self).profile->begin_child(*of_);
}

profiled_child::~profiled_child() {
  if (of_ != nullptr) static_cast<worker&>(*self).profile->end_child(*of_);
}

void begin_profiled_node(profiled_path& longest) noexcept {
  if (is_profiled(*self)) static_cast<worker&>(*self).profile->follow(std::exchange(longest, {}));
}

void end_profiled_node(profiled_path& of_later) noexcept {
  if (is_profiled(*self)) of_later.meet(static_cast<worker&>(*self).profile->path());
}

}  // namespace filch::detail
