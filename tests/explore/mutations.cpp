#include "mutations.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutation_table.hpp"
#include "source_path.hpp"
#include "tags.hpp"

namespace filch::explore {
namespace {

using order = std::memory_order;
using vm::mutation;

constexpr std::uint64_t survey_runs = 2000;
/// Each scenario gets that many runs, then the next one has its turn, until the time is over. Those that are likely to
/// notice get more.
constexpr std::uint64_t runs_in_turn = 1000;
constexpr std::uint64_t runs_of_the_likely = 20'000;
constexpr std::size_t most_likely = 4;

// Which operations there are

/// An operation of the library, and the scenarios that come across it; first those of whose operations it is the
/// largest part.
struct place {
  struct use {
    const scenario* by;
    double part;
  };
  vm::site_key where;
  vm::site_record record;
  std::vector<use> used_by;
};

std::string relative(std::string_view file) { return source_path(file).lexically_relative(FILCH_SOURCE_DIR).string(); }

bool belongs_to_library(const vm::site_key& where) {
  const std::string file = relative(where.file);
  return (file.starts_with("src/") && !file.starts_with("src/platform/")) || file.starts_with("include/");
}

std::vector<place> find_places(const scenario_list& all, std::uint64_t runs = survey_runs) {
  std::vector<place> places;
  std::map<vm::site_key, std::size_t> numbers;
  for (const scenario& s : all) {
    vm::survey_of_sites seen;
    vm::explorer world;
    world.survey(&seen);
    explore(world, s, {.strategies = {"random", "pct"}, .seconds = 60, .most_runs = runs});
    double operations = 0;
    for (const auto& [where, record] : seen) operations += static_cast<double>(record.times);
    for (const auto& [where, record] : seen) {
      if (!belongs_to_library(where)) continue;
      const auto [at, fresh] = numbers.try_emplace(where, places.size());
      if (fresh) places.push_back({where, record, {}});
      places[at->second].used_by.push_back({&s, static_cast<double>(record.times) / operations});
    }
  }
  for (place& p : places) {
    std::sort(p.used_by.begin(), p.used_by.end(), [](const place::use& a, const place::use& b) {
      return a.part != b.part ? a.part > b.part : a.by->name < b.by->name;
    });
  }
  std::sort(places.begin(), places.end(), [](const place& a, const place& b) { return a.where < b.where; });
  return places;
}

// How they can be weakened

/// The orders that are one step weaker.
std::vector<order> weaker(std::string_view operation, order from) {
  const bool load = operation == "load";
  const bool store = operation == "store";
  switch (from) {
    case order::seq_cst:
      return {load ? order::acquire : store ? order::release : order::acq_rel};
    case order::acq_rel:
      return {order::acquire, order::release};
    case order::acquire:
    case order::release:
    case order::consume:
      return {order::relaxed};
    case order::relaxed:
      break;
  }
  return {};
}

// Running one

struct verdict {
  bool noticed = false;
  std::string by;  ///< scenario
  std::string how;
  std::uint64_t runs = 0;
};

/// Who looks for a damage.
struct party {
  std::vector<const scenario*> known;   ///< noticed it before
  std::vector<const scenario*> likely;  ///< noticed its like before, or meet the operation most often
  std::vector<const scenario*> others;
};

/// In this process. A crash of it counts as noticed, too. Those that are known to notice go first, for all the time
/// that there is; then all others take turns, at least one each, for as long again.
verdict hunt(const mutation& planted, const party& among, const plan& how) {
  verdict v;
  vm::explorer world;
  world.plant(planted);
  std::uint64_t seed = how.seed;
  const auto one_notices = [&](const std::vector<const scenario*>& of, std::uint64_t runs) {
    return std::any_of(of.begin(), of.end(), [&](const scenario* s) {
      const result found = explore(
          world, *s, {.strategies = {"random", "pct"}, .seconds = how.seconds, .most_runs = runs, .seed = seed});
      v.runs += found.runs;
      if (!found.failed) return false;
      v.noticed = true;
      v.by = s->name;
      v.how = found.failed->what.substr(0, found.failed->what.find('\n'));
      return true;
    });
  };
  const auto in_rounds = [&](const auto& round) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(how.seconds);
    while (!round() && std::chrono::steady_clock::now() < until) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
    }
  };
  if (!among.known.empty()) in_rounds([&] { return one_notices(among.known, runs_of_the_likely); });
  if (!v.noticed && !(among.likely.empty() && among.others.empty())) {
    in_rounds([&] { return one_notices(among.likely, runs_of_the_likely) || one_notices(among.others, runs_in_turn); });
  }
  return v;
}

/// A hunt in a process of its own.
class hunter {
 public:
  hunter(const mutation& planted, const party& among, const plan& how) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("filch_explore: no pipe");
    std::fflush(nullptr);
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("filch_explore: no process");
    if (child_ == 0) {
      close(ends[0]);
      if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);  // what a crash prints
      const verdict v = hunt(planted, among, how);
      const std::string line = fmt::format("{}\t{}\t{}\t{}\n", v.noticed ? 1 : 0, v.by, v.runs, v.how);
      _exit(write(ends[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? 0 : 1);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~hunter() {
    if (from_ >= 0) close(from_);
  }
  hunter(const hunter&) = delete;
  hunter& operator=(const hunter&) = delete;

  verdict wait() {
    std::string line;
    std::array<char, 512> part{};
    for (ssize_t n = 0; (n = read(from_, part.data(), part.size())) > 0;)
      line.append(part.data(), static_cast<std::size_t>(n));
    int status = 0;
    waitpid(child_, &status, 0);
    verdict v;
    if (line.empty()) {
      v.noticed = true;
      v.by = "(crash)";
      v.how = "the program ended by itself";
      return v;
    }
    std::istringstream in(line);
    std::string field;
    std::getline(in, field, '\t');
    v.noticed = field == "1";
    std::getline(in, v.by, '\t');
    std::getline(in, field, '\t');
    v.runs = std::stoull(field);
    std::getline(in, v.how);
    return v;
  }

 private:
  pid_t child_ = -1;
  int from_ = -1;
};

/// One line of the table.
struct row {
  const place* at;
  mutation planted;
  order from;
  std::string tag;
  verdict outcome;
};

std::string operation_of(const row& r) {
  const std::string name(r.at->record.operation);
  return r.planted.what == mutation::kind::weaken_failure ? name + ", failed" : name;
}

/// Numbers of lines are wrong after the next change of the file.
std::string without_lines(std::string how) {
  for (std::size_t at = 0; (at = how.find("pp:", at)) != std::string::npos;) {
    at += std::string_view("pp").size();
    const std::size_t end = std::min(how.find_first_not_of("0123456789", at + 1), how.size());
    if (end != at + 1) how.erase(at, end - at);
  }
  return how;
}

table_row shown(const row& r, const tags& said) {
  return {.tag = r.tag,
          .where = relative(r.at->where.file),
          .operation = operation_of(r),
          .order = std::string(vm::name_of(r.from)),
          .weakened = std::string(vm::name_of(r.planted.order)),
          .noticed_by = r.outcome.noticed      ? r.outcome.by
                        : said.explains(r.tag) ? "nobody; see the tag"
                                               : "**nobody**",
          .how = without_lines(r.outcome.how)};
}

/// Tags of one protocol begin with the same letters.
bool same_protocol(std::string_view a, std::string_view b) {
  const auto letters = [](std::string_view tag) { return tag.substr(0, tag.find_first_of("0123456789")); };
  return letters(a) == letters(b);
}

party party_for(const row& r, const tags& said, const std::vector<table_row>& earlier) {
  const table_row now = shown(r, said);
  party all;
  std::size_t rank = 0;
  for (const place::use& use : r.at->used_by) {
    const auto noticed = [&](const auto& which) {
      return std::any_of(earlier.begin(), earlier.end(),
                         [&](const table_row& before) { return before.noticed_by == use.by->name && which(before); });
    };
    if (noticed([&](const table_row& before) { return before.is_like(now); })) {
      all.known.push_back(use.by);
    } else if (rank++ < most_likely ||
               noticed([&](const table_row& before) { return same_protocol(before.tag, now.tag); })) {
      all.likely.push_back(use.by);
    } else {
      all.others.push_back(use.by);
    }
  }
  return all;
}

}  // namespace

int explore_mutations(const scenario_list& chosen, const plan& how, const std::string& file,
                      const std::vector<std::string>& only) {
  const std::vector<table_row> earlier = read_table(file);
  const std::vector<place> places = find_places(chosen);
  if (places.empty()) {
    throw std::runtime_error("no operation of the scenarios lies in the sources below '" FILCH_SOURCE_DIR "'");
  }
  tags said;
  const auto is_wanted = [&](const std::string& tag) {
    return only.empty() || std::find(only.begin(), only.end(), tag) != only.end();
  };
  for (const std::string& tag : only) {
    if (std::none_of(places.begin(), places.end(), [&](const place& p) { return said.at(p.where) == tag; })) {
      throw std::invalid_argument("filch_explore: the scenarios meet no operation with the tag '" + tag +
                                  "'; use tags as they stand in the sources, like SD3");
    }
  }
  std::vector<row> todo;
  const auto add_weaker = [&](const place& p, mutation::kind what, order from) {
    for (const order to : weaker(what == mutation::kind::weaken_failure ? "load" : p.record.operation, from)) {
      todo.push_back({&p, {p.where, what, to}, from, said.at(p.where), {}});
    }
  };
  for (const place& p : places) {
    if (!is_wanted(said.at(p.where))) continue;
    add_weaker(p, mutation::kind::weaken, p.record.order);
    if (std::string_view(p.record.operation) == "compare_exchange") {
      add_weaker(p, mutation::kind::weaken_failure, p.record.failure);
    }
  }
  const auto lanes = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::vector<row> done;
  int unexplained = 0;
  while (!todo.empty()) {
    std::vector<row> now(todo.begin(), todo.begin() + static_cast<std::ptrdiff_t>(std::min(lanes, todo.size())));
    todo.erase(todo.begin(), todo.begin() + static_cast<std::ptrdiff_t>(now.size()));
    std::vector<std::unique_ptr<hunter>> hunters;
    hunters.reserve(now.size());
    for (const row& r : now) {
      hunters.push_back(std::make_unique<hunter>(r.planted, party_for(r, said, earlier), how));
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      row& r = now[i];
      r.outcome = hunters[i]->wait();
      if (!r.outcome.noticed) {
        if (!said.explains(r.tag)) ++unexplained;
        add_weaker(*r.at, r.planted.what, r.planted.order);
      }
      fmt::print("{:<5}{}:{} {} {} -> {}: {}\n", r.tag, relative(r.at->where.file), r.at->where.line, operation_of(r),
                 vm::name_of(r.from), vm::name_of(r.planted.order),
                 r.outcome.noticed ? fmt::format("{}, {} runs: {}", r.outcome.by, r.outcome.runs, r.outcome.how)
                                   : fmt::format("NOBODY in {} runs", r.outcome.runs));
      std::fflush(stdout);
      done.push_back(std::move(r));
    }
  }
  const auto key = [](const row& r) { return std::tuple(r.at->where, r.planted.what, r.planted.order); };
  std::sort(done.begin(), done.end(), [&](const row& a, const row& b) { return key(a) < key(b); });
  std::vector<table_row> rows;
  if (!only.empty()) {
    std::copy_if(earlier.begin(), earlier.end(), std::back_inserter(rows),
                 [&](const table_row& before) { return !is_wanted(before.tag); });
  }
  for (const row& r : done) rows.push_back(shown(r, said));
  write_table(std::move(rows), how.seconds, file);
  fmt::print("{} mutations of {} operations, {} unnoticed and unexplained\n", done.size(), places.size(), unexplained);
  return unexplained == 0 ? 0 : 1;
}

int check_mutations(const scenario_list& chosen, const std::string& file) {
  // So few that every test run has the time. A hundred name the same rows.
  constexpr std::uint64_t runs = 10;
  const std::vector<table_row> rows = read_table(file);
  tags said;
  int wrong = 0;
  for (const place& p : find_places(chosen, runs)) {
    table_row own;
    own.tag = said.at(p.where);
    own.where = relative(p.where.file);
    own.operation = p.record.operation;
    if (weaker(own.operation, p.record.order).empty()) continue;
    if (std::any_of(rows.begin(), rows.end(), [&](const table_row& row) { return row.is_of_operation(own); })) continue;
    fmt::print("no row: {}:{} {}, tag '{}'; make it with --mutations {} --tag {}\n", own.where, p.where.line,
               own.operation, own.tag, file, own.tag);
    ++wrong;
  }
  for (const table_row& row : rows) {
    if (said.is_in(row.tag, row.where)) continue;
    fmt::print("no such operation: tag '{}' in {}; take the row out\n", row.tag, row.where);
    ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}

namespace {

/// A damage with a name.
struct planted_bug {
  std::string_view name;
  std::string_view about;
  std::string_view tag;
  std::string_view operation;
  mutation::kind what;
  order to;
  std::vector<std::string_view> scenarios;  ///< those that have to notice
};

const std::vector<planted_bug>& planted_bugs() {
  static const std::vector<planted_bug> all{
      {"missing_release",
       "the first task is shared by a relaxed store",
       "SD3",
       "store",
       mutation::kind::weaken,
       order::relaxed,
       {"split_deque", "lace_transitive"}},
      {"torn_shrink",
       "shrink reads the word and writes it, with nothing that makes the two one (Lace's shrink without its fence)",
       "SD5",
       "compare_exchange",
       mutation::kind::tear,
       order::relaxed,
       {"split_deque", "lace_transitive"}},
      {"double_execution",
       "a thief reads the word and writes it, so that two may take one task",
       "SD2",
       "compare_exchange",
       mutation::kind::tear,
       order::relaxed,
       {"split_deque_two_thieves", "lace_transitive"}},
      {"lost_wake_up",
       "a worker that falls asleep does not say so before it looks once more",
       "SL3",
       "store",
       mutation::kind::weaken,
       order::relaxed,
       {"sleepy", "lace_offer"}},
  };
  return all;
}

}  // namespace

int explore_planted(const std::string& name, const plan& how) {
  const auto& bugs = planted_bugs();
  const auto bug = std::find_if(bugs.begin(), bugs.end(), [&](const planted_bug& b) { return b.name == name; });
  if (bug == bugs.end()) {
    throw std::invalid_argument("filch_explore: damage '" + name + "' is unknown; use one of " + planted_names());
  }
  scenario_list among;
  for (scenario& s : scenarios()) {
    if (std::find(bug->scenarios.begin(), bug->scenarios.end(), s.name) != bug->scenarios.end()) {
      among.push_back(std::move(s));
    }
  }
  tags said;
  const std::vector<place> places = find_places(among);
  const auto at = std::find_if(places.begin(), places.end(), [&](const place& p) {
    return said.at(p.where) == bug->tag && p.record.operation == bug->operation;
  });
  if (at == places.end()) throw std::runtime_error("filch_explore: no operation has the tag " + std::string(bug->tag));
  fmt::print("{}: {} ({}:{})\n", bug->name, bug->about, relative(at->where.file), at->where.line);
  int missed = 0;
  for (const scenario& s : among) {
    const verdict v = hunter({at->where, bug->what, bug->to}, {{&s}, {}, {}}, how).wait();
    fmt::print("  {}: {}\n", s.name, v.noticed ? fmt::format("found in {} runs: {}", v.runs, v.how) : "NOT FOUND");
    if (!v.noticed) ++missed;
    const result clean = explore(*std::make_unique<vm::explorer>(), s, {.seconds = 0.1, .seed = how.seed});
    if (clean.failed) {
      fmt::print("  {} fails without the damage, too: {}\n", s.name, clean.failed->what);
      ++missed;
    }
  }
  return missed == 0 ? 0 : 1;
}

std::string planted_names() {
  std::string names;
  for (const planted_bug& b : planted_bugs()) names += (names.empty() ? "" : ", ") + std::string(b.name);
  return names;
}

}  // namespace filch::explore
