// filch_fuzz: runs programs that nobody has written, and compares what they do with their serial elision.
//
//   filch_fuzz --seconds 60
//   filch_fuzz --seed 17 --programs 1               that program again
//   filch_fuzz --seed 17 --minimise                 looks for a smaller one that fails as well
//   filch_fuzz --seconds 60 --without locks,guests  some constructs left out
//   filch_fuzz --seed 17 --print                    the program, as code
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

#include "interpret.hpp"
#include "minimise.hpp"
#include "oracle.hpp"
#include "program.hpp"
#include "subprocess.hpp"

namespace filch::fuzz {
namespace {

struct session {
  std::uint64_t seed = 1;
  std::uint64_t programs = ~std::uint64_t{0};
  double seconds = 10;
  int repetitions = 8;  ///< of each program
  double patience = 20;
  int workers = 0;
  std::string policy;
  bool minimise = false;
  int minimise_seconds = 90;
  bool go_on = false;
  size_limits most;
  features wanted;
};

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point begun) { return std::chrono::duration<double>(clock::now() - begun).count(); }

program make(const session& s, std::uint64_t seed) {
  program p = generate(seed, s.most, s.wanted);
  for (options& o : p.schedulers) {
    if (s.workers != 0) o.workers = s.workers;
    if (s.policy.empty()) continue;
    o = {.workers = o.workers, .policy = s.policy, .join = "transitive", .stack_bytes = o.stack_bytes};
  }
  repair(p, s.wanted);
  return p;
}

/// What a failure is called before the colon: a smaller program must fail in the same way.
std::string kind_of(const std::string& what) { return what.substr(0, what.find(':')); }

program minimised(const session& s, const program& p, const verdict& found) {
  // A race may need many runs. Who hangs in this way is given less time: it is run alone.
  const double patience = std::min(s.patience, 3.0);
  const auto fails = [&](const program& candidate) {
    const prediction expected = predict(candidate);
    const verdict v = in_child(
        [&](progress& so_far) {
          const auto begun = clock::now();
          while (seconds_since(begun) < 1.5) {
            interpreter runner(candidate, expected);
            for (int k = 0; k < 50 && seconds_since(begun) < 1.5; ++k) {
              runner.run();
              so_far.step(0);
            }
          }
        },
        patience, true);
    return v.failed && kind_of(v.what) == kind_of(found.what);
  };
  return minimise(p, s.wanted, fails, std::chrono::seconds(s.minimise_seconds));
}

void report(const session& s, const verdict& found) {
  const program p = make(s, found.mark);
  std::printf("FAILED seed %llu after %llu programs: %s\n", static_cast<unsigned long long>(found.mark),
              static_cast<unsigned long long>(found.steps), found.what.c_str());
  if (s.minimise) {
    std::printf("%s", print(minimised(s, p, found)).c_str());
  } else {
    std::printf("%s", print(p).c_str());
  }
  std::fflush(stdout);
}

int run(const session& s) {
  std::uint64_t ran = 0;
  std::uint64_t failures = 0;
  const auto begun = clock::now();
  std::uint64_t next = s.seed;
  while (ran < s.programs && seconds_since(begun) < s.seconds) {
    const verdict v = in_child(
        [&](progress& so_far) {
          // A process after each hundred, so that little is lost and much is seen.
          for (std::uint64_t k = 0; k < 100 && ran + k < s.programs && seconds_since(begun) < s.seconds; ++k) {
            so_far.step(next + k);
            const program p = make(s, next + k);
            const prediction expected = predict(p);
            interpreter runner(p, expected);
            for (int r = 0; r < s.repetitions; ++r) runner.run();
          }
        },
        s.patience, false);
    ran += v.steps;
    next += v.steps;
    if (!v.failed) continue;
    ++failures;
    verdict told = v;
    told.steps = ran;
    report(s, told);
    if (!s.go_on) break;
  }
  std::printf("%llu programs, each %d times, %.0f s, %llu failed\n", static_cast<unsigned long long>(ran), s.repetitions,
              seconds_since(begun), static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Runs programs that nobody has written, and compares them with their serial elision."};
  session s;
  std::vector<std::string> without;
  std::vector<std::string> with;
  bool print_only = false;
  auto* const seconds = app.add_option("--seconds", s.seconds, "how long")->check(CLI::PositiveNumber);
  app.add_option("--seed", s.seed, "of the first program; the next one has the next number");
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
    std::fprintf(stderr, "filch_fuzz: %s; see --help\n", error.what());
    return 2;
  }
  if (programs->count() != 0 && seconds->count() == 0) s.seconds = 1e9;
  for (const std::string& name : without) s.wanted.leave_out(name);
  for (const std::string& name : with) s.wanted.add(name);
  if (!print_only) return run(s);
  std::printf("%s", print(make(s, s.seed)).c_str());
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
