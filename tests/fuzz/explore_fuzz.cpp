// filch_explore_fuzz: the fuzzer's programs at small sizes, under the choices of the explorer.
//
//   filch_explore_fuzz --seconds 60
//   filch_explore_fuzz --seed 17 --programs 1 --runs 5000 --minimise
//   FILCH_VM_SEED=random:123 filch_explore_fuzz --seed 17       repeats one run and tells its story
//
// Exit status: 0 nothing found, 1 a failure, 2 a command line that makes no sense.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "interpret.hpp"
#include "minimise.hpp"
#include "oracle.hpp"
#include "platform/vm/explorer/explorer.hpp"
#include "program.hpp"
#include "small_program.hpp"

namespace filch::fuzz {
namespace {

namespace vm = platform::vm;

struct session {
  std::uint64_t seed = 1;
  std::uint64_t programs = ~std::uint64_t{0};
  double seconds = 10;
  std::uint64_t runs = 100;  ///< of each program, with each strategy
  bool minimise = false;
  int minimise_seconds = 60;
  bool go_on = false;
  features wanted;
};

std::optional<vm::failure> explore(const program& p, std::uint64_t runs, std::uint64_t& ran) {
  const prediction expected = predict(p);
  vm::explorer world(small_bounds);
  for (const char* const name : {"random", "pct"}) {
    const auto choices = vm::make_strategy(name, p.seed);
    for (std::uint64_t k = 0; k < runs && choices->begin(); ++k) {
      ++ran;
      if (auto failed = world.run([&] { interpreter(p, expected).run(); }, *choices)) return failed;
    }
  }
  return std::nullopt;
}

int repeat(const program& p, const char* seed) {
  const prediction expected = predict(p);
  vm::explorer world(small_bounds);
  const auto choices = vm::replay(seed);
  if (!choices->begin()) return 0;
  const auto failed = world.run([&] { interpreter(p, expected).run(); }, *choices, true);
  if (!failed) return 0;
  for (const std::string& line : failed->story) std::printf("%s\n", line.c_str());
  std::printf("%s%s\n", print(p).c_str(), failed->what.c_str());
  return 1;
}

void report(const session& s, const program& p, const vm::failure& found, std::uint64_t programs) {
  std::printf("FAILED seed %llu after %llu programs: %s\n  to repeat: FILCH_VM_SEED=%s filch_explore_fuzz --seed %llu\n",
              static_cast<unsigned long long>(p.seed), static_cast<unsigned long long>(programs), found.what.c_str(),
              found.seed.c_str(), static_cast<unsigned long long>(p.seed));
  std::uint64_t ran = 0;
  const auto fails = [&](const program& candidate) { return explore(candidate, 10 * s.runs, ran).has_value(); };
  const program least = s.minimise ? minimise(p, s.wanted, fails, std::chrono::seconds(s.minimise_seconds)) : p;
  std::printf("%s", print(least).c_str());
  std::fflush(stdout);
}

int run(const session& s) {
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  std::uint64_t programs = 0;
  std::uint64_t ran = 0;
  int failures = 0;
  while (programs < s.programs && seconds() < s.seconds && (failures == 0 || s.go_on)) {
    const program p = small_program(s.seed + programs++, s.wanted);
    const auto failed = explore(p, s.runs, ran);
    if (!failed) continue;
    ++failures;
    report(s, p, *failed, programs);
  }
  std::printf("%llu programs, %llu runs, %.0f s, %d failed\n", static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(ran), seconds(), failures);
  return failures == 0 ? 0 : 1;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Explores programs that nobody has written."};
  session s;
  std::vector<std::string> without;
  std::vector<std::string> with;
  auto* const seconds = app.add_option("--seconds", s.seconds, "how long")->check(CLI::PositiveNumber);
  auto* const programs = app.add_option("--programs", s.programs, "how many at most")->check(CLI::PositiveNumber);
  app.add_option("--seed", s.seed, "of the first program; the next one has the next number");
  app.add_option("--runs", s.runs, "of each program with each strategy")->check(CLI::PositiveNumber);
  app.add_option("--without", without, "leave out; filch_fuzz --help lists the names")->delimiter(',');
  app.add_option("--with", with, "add what is left out unless asked for: misuse")->delimiter(',');
  app.add_flag("--minimise", s.minimise, "look for a smaller program that fails");
  app.add_option("--minimise-seconds", s.minimise_seconds, "for how long")->check(CLI::PositiveNumber);
  app.add_flag("--go-on", s.go_on, "after a failure");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "filch_explore_fuzz: %s; see --help\n", error.what());
    return 2;
  }
  if (programs->count() != 0 && seconds->count() == 0) s.seconds = 1e9;
  for (const std::string& name : without) s.wanted.leave_out(name);
  for (const std::string& name : with) s.wanted.add(name);
  if (const char* const seed = std::getenv("FILCH_VM_SEED")) return repeat(small_program(s.seed, s.wanted), seed);
  return run(s);
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
