// filch_fuzz: runs programs that nobody has written, and compares what they do with their serial elision.
//
//   filch_fuzz --seconds 60
//   filch_fuzz --seed 17 --programs 1               that program again
//   filch_fuzz --seed 17 --minimise                 looks for a smaller one that fails as well
//   filch_fuzz --seconds 60 --without locks,guests  some constructs left out
//   filch_fuzz --seed 17 --print                    the program, as code
//
// filch_explore_fuzz is the same on the explorer; see trial.hpp.
//
// Exit status: 0 nothing found, 1 a failure, 2 a command line that makes no sense.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "minimise.hpp"
#include "oracle.hpp"
#include "program.hpp"
#include "subprocess.hpp"
#include "trial.hpp"

namespace filch::fuzz {
namespace {

struct session {
  std::vector<std::uint64_t> seeds;  ///< of the first programs
  std::uint64_t seed = 1;            ///< of the next one, and so on
  std::uint64_t programs = ~std::uint64_t{0};
  double seconds = 10;
  int repetitions = this_trial.repetitions;  ///< of each program
  double patience = 20;
  int workers = 0;
  std::string policy;
  bool minimise = false;
  int minimise_seconds = 90;
  bool go_on = false;
  size_limits most = this_trial.most;
  features wanted;
};

std::uint64_t seed_of(const session& s, std::uint64_t program) {
  return program < s.seeds.size() ? s.seeds[program] : s.seed + program - s.seeds.size();
}

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point begun) { return std::chrono::duration<double>(clock::now() - begun).count(); }

program make(const session& s, std::uint64_t seed) {
  program p = generate(seed, s.most, s.wanted);
  for (options& o : p.schedulers) {
    if (s.workers != 0) o.workers = s.workers;
    if (s.policy.empty()) continue;
    o = {.workers = o.workers, .policy = s.policy, .join = "transitive", .stack_bytes = o.stack_bytes};
  }
  features wanted = s.wanted;
  adapt(p, wanted);
  repair(p, wanted);
  return p;
}

/// What a failure is called before the colon: a smaller program must fail in the same way.
std::string kind_of(const std::string& what) { return what.substr(0, what.find(':')); }

program minimised(const session& s, const program& p, const verdict& found) {
  // A race may need many runs. Who hangs in this way is given less time: it is run alone.
  const auto fails = [&](const program& candidate) {
    const prediction expected = predict(candidate);
    const verdict v = in_child(
        [&](progress& so_far) {
          const auto begun = clock::now();
          while (seconds_since(begun) < 1.5) try_program(candidate, expected, s.repetitions, so_far);
        },
        std::min(s.patience, 3.0), true);
    return v.failed && kind_of(v.what) == kind_of(found.what);
  };
  return minimise(p, s.wanted, fails, std::chrono::seconds(s.minimise_seconds));
}

void report(const session& s, std::uint64_t seed, std::uint64_t programs, const verdict& found) {
  const program p = make(s, seed);
  std::printf("FAILED seed %llu after %llu programs: %s\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(programs), found.what.c_str());
  std::printf("%s", print(s.minimise ? minimised(s, p, found) : p).c_str());
  std::fflush(stdout);
}

int run(const session& s) {
  std::uint64_t ran = 0;
  std::uint64_t failures = 0;
  const auto begun = clock::now();
  while (ran < s.programs && seconds_since(begun) < s.seconds && (failures == 0 || s.go_on)) {
    const verdict v = in_child(
        [&](progress& so_far) {
          // A new process now and then: the default scheduler is never destroyed.
          for (std::uint64_t k = ran; k < ran + 100 && k < s.programs && seconds_since(begun) < s.seconds; ++k) {
            so_far.begin_program();
            const program p = make(s, seed_of(s, k));
            try_program(p, predict(p), s.repetitions, so_far);
          }
        },
        s.patience, false);
    ran += v.programs;
    if (!v.failed) continue;
    ++failures;
    report(s, seed_of(s, ran - 1), ran, v);
  }
  std::printf("%llu programs, each %d times, %.0f s, %llu failed\n", static_cast<unsigned long long>(ran),
              s.repetitions, seconds_since(begun), static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{std::string(this_trial.about)};
  session s;
  std::vector<std::string> without;
  std::vector<std::string> with;
  bool print_only = false;
  auto* const seconds = app.add_option("--seconds", s.seconds, "how long")->check(CLI::PositiveNumber);
  app.add_option("--seed", s.seed, "of the first program; the next one has the next number");
  app.add_option("--seeds", s.seeds, "of programs that are run before these")->delimiter(',');
  auto* const programs = app.add_option("--programs", s.programs, "how many at most")->check(CLI::PositiveNumber);
  app.add_option("--repetitions", s.repetitions, "runs of each program")->check(CLI::PositiveNumber);
  app.add_option("--patience", s.patience, "seconds after which a program hangs")->check(CLI::PositiveNumber);
  app.add_option("--workers", s.workers, "instead of drawing them")->check(CLI::Range(1, 64));
  app.add_option("--policy", s.policy, "instead of drawing it");
  app.add_option("--statements", s.most.statements, "of a program at most")->check(CLI::Range(3, 1000));
  app.add_option("--chain", s.most.chain, "links of items that bring each other")->check(CLI::Range(1, 400'000));
  app.add_option("--without", without, "leave out: see --with")->delimiter(',');
  std::string names;
  for (const std::string_view name : features::names()) names += (names.empty() ? "" : ", ") + std::string(name);
  app.add_option("--with", with, "add what is left out unless asked for, misuse. All: " + names)->delimiter(',');
  app.add_flag("--minimise", s.minimise, "look for a smaller program that fails");
  app.add_option("--minimise-seconds", s.minimise_seconds, "for how long")->check(CLI::PositiveNumber);
  app.add_flag("--go-on", s.go_on, "after a failure");
  app.add_flag("--print", print_only, "show the program, and do not run it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s; see --help\n", std::string(this_trial.name).c_str(), error.what());
    return 2;
  }
  if (programs->count() != 0 && seconds->count() == 0) s.seconds = 1e9;
  for (const std::string& name : without) s.wanted.leave_out(name);
  for (const std::string& name : with) s.wanted.add(name);
  if (!print_only) return run(s);
  std::printf("%s", print(make(s, seed_of(s, 0))).c_str());
  return 0;
}

}  // namespace
}  // namespace filch::fuzz

int main(int argc, char** argv) {
  try {
    return filch::fuzz::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
