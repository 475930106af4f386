#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/filch.hpp>

namespace filch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Sets an environment variable and puts back what was there.
class environment_variable {
 public:
  environment_variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~environment_variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// What the constructor says about bad options.
std::string complaint(const options& bad) {
  try {
    const scheduler s(bad);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "no complaint";
}

TEST(configuration, bad_values_are_named_with_a_remedy) {
  EXPECT_THAT(complaint({.workers = -1}), AllOf(HasSubstr("'-1'"), HasSubstr("use 1 to 1024")));
  EXPECT_THAT(complaint({.workers = 1025}), AllOf(HasSubstr("'1025'"), HasSubstr("use 1 to 1024")));
  EXPECT_THAT(complaint({.policy = "fifo"}), AllOf(HasSubstr("policy 'fifo' is unknown"), HasSubstr("chase_lev")));
  EXPECT_THAT(complaint({.join = "spin"}), AllOf(HasSubstr("join 'spin'"), HasSubstr("leapfrog")));
  EXPECT_THAT(complaint({.policy = "chase_lev", .steal_half = true}), HasSubstr("use policy standard, lace"));
  EXPECT_THAT(complaint({.policy = "lazy_depth", .steal_half = true}), HasSubstr("receiver"));
  for (const std::int64_t bad : {0, -1, -30'000}) {
    EXPECT_THAT(complaint({.policy = "sender", .deal_interval_ns = bad}),
                AllOf(HasSubstr("deal_interval_ns '" + std::to_string(bad) + "'"), HasSubstr("use 1 to")));
  }
  EXPECT_THAT(complaint({.policy = "receiver", .deal_interval_ns = 1}),
              AllOf(HasSubstr("does not go with policy 'receiver'"), HasSubstr("use policy sender")));
  for (const std::int64_t bad : {-1, 1'000'000'001}) {
    EXPECT_THAT(complaint({.interrupt_after_ns = bad}),
                AllOf(HasSubstr("interrupt_after_ns '" + std::to_string(bad) + "'"), HasSubstr("use 0 to 1000000000")));
    EXPECT_THAT(complaint({.policy = "sender", .interrupt_every_ns = bad}),
                AllOf(HasSubstr("interrupt_every_ns '" + std::to_string(bad) + "'"), HasSubstr("use 0 to")));
  }
  EXPECT_THAT(complaint({.policy = "chase_lev", .interrupt_after_ns = 1}),
              AllOf(HasSubstr("does not go with policy 'chase_lev'"), HasSubstr("use policy standard")));
  EXPECT_THAT(complaint({.policy = "lace", .interrupt_every_ns = 1}),
              AllOf(HasSubstr("does not go with policy 'lace'"), HasSubstr("use policy sender")));
  EXPECT_THAT(complaint({.pinning = "close"}),
              AllOf(HasSubstr("pinning 'close' is unknown"), HasSubstr("use one of none, compact, scatter")));
  EXPECT_THAT(complaint({.stack_bytes = 100}), AllOf(HasSubstr("'100'"), HasSubstr("use 4096 to")));
  EXPECT_THAT(complaint({.stack_bytes = std::size_t{1} << 40}), HasSubstr("is out of range"));
}

TEST(configuration, loops_are_named_as_their_types_too) {
  for (const way_to_split& each : ways_to_split()) {
    EXPECT_EQ(loop_named(each.name), each.kind);
    EXPECT_EQ(loop_named(each.type), each.kind);
  }
  EXPECT_EQ(loop_named(""), loop_kind::inherited);
  EXPECT_EQ(scheduler({.workers = 1, .policy = "lace", .loop = "automatic"}).loop(), "auto");
  EXPECT_EQ(scheduler({.workers = 1, .policy = "lace", .loop = "fixed"}).loop(), "static");
  const environment_variable loop("FILCH_LOOP", "automatic");
  EXPECT_EQ(scheduler({.workers = 1, .policy = "standard"}).loop(), "auto");
}

TEST(configuration, names_that_are_unknown_are_told_from_those_that_do_not_fit) {
  EXPECT_THAT(complaint({.policy = "standard", .loop = "guided"}),
              AllOf(HasSubstr("loop 'guided' is unknown; use one of standard"), HasSubstr("static")));
  EXPECT_THAT(complaint({.policy = "chase_lev", .loop = "standard"}), HasSubstr("does not go with policy 'chase_lev'"));
  EXPECT_THAT(complaint({.policy = "standard", .join = "spin"}),
              AllOf(HasSubstr("join 'spin' is unknown; use one of"), HasSubstr("leapfrog")));
  const environment_variable loop("FILCH_LOOP", "guided");
  EXPECT_THAT(complaint({}), HasSubstr("FILCH_LOOP 'guided' is unknown; use one of standard"));
}

TEST(configuration, the_environment_fills_in_what_the_program_leaves_open) {
  const environment_variable workers("FILCH_WORKERS", "3");
  const environment_variable policy("FILCH_POLICY", "chase_lev");
  const environment_variable join("FILCH_JOIN", "leapfrog");
  const environment_variable pinning("FILCH_PINNING", "compact");
  const scheduler open{options{}};
  EXPECT_EQ(open.workers(), 3);
  EXPECT_EQ(open.policy(), "chase_lev");
  EXPECT_EQ(open.join(), "leapfrog");
  EXPECT_EQ(open.pinning(), "compact");
  const scheduler fixed({.workers = 2, .policy = "lace", .join = "random", .pinning = "none"});
  EXPECT_EQ(fixed.workers(), 2);
  EXPECT_EQ(fixed.policy(), "lace");
  EXPECT_EQ(fixed.join(), "random");
  EXPECT_EQ(fixed.pinning(), "none");
}

TEST(configuration, bad_values_of_the_environment_are_named) {
  for (const char* bad : {"x", "2x", "-1", "99999", " 2"}) {
    const environment_variable workers("FILCH_WORKERS", bad);
    EXPECT_THAT(complaint({}), AllOf(HasSubstr("FILCH_WORKERS"), HasSubstr(bad)));
  }
  for (const char* bad : {"0", "-1", "x", "30us", "9999999999"}) {
    const environment_variable interval("FILCH_DEAL_INTERVAL_NS", bad);
    for (const char* policy : {"sender", "lace"}) {
      EXPECT_THAT(complaint({.policy = policy}), AllOf(HasSubstr("FILCH_DEAL_INTERVAL_NS"), HasSubstr(bad)));
    }
  }
  {
    const environment_variable interval("FILCH_DEAL_INTERVAL_NS", "1000");
    EXPECT_EQ(complaint({.workers = 1, .policy = "lace"}), "no complaint") << "it has no use for it";
  }
  for (const char* bad : {"0", "-1", "x", "1000001"}) {
    const environment_variable attempts("FILCH_LEVEL_ATTEMPTS", bad);
    EXPECT_THAT(complaint({.policy = "hierarchical"}), AllOf(HasSubstr("FILCH_LEVEL_ATTEMPTS"), HasSubstr(bad)));
  }
  for (const char* bad : {"-1", "x", "1000000001"}) {
    const environment_variable spin("FILCH_SPIN_NS", bad);
    EXPECT_THAT(complaint({}), AllOf(HasSubstr("FILCH_SPIN_NS"), HasSubstr(bad)));
  }
  EXPECT_THAT(complaint({.policy = "hierarchical", .level_attempts = 0}), HasSubstr("use 1 to 1000000"));
  EXPECT_THAT(complaint({.policy = "lace", .level_attempts = 4}), HasSubstr("hierarchical"));
  const environment_variable policy("FILCH_POLICY", "best");
  EXPECT_THAT(complaint({.workers = 1}), HasSubstr("FILCH_POLICY 'best' is unknown"));
  const environment_variable pinning("FILCH_PINNING", "cores");
  EXPECT_THAT(complaint({.workers = 1, .policy = "lace"}),
              AllOf(HasSubstr("FILCH_PINNING 'cores' is unknown"), HasSubstr("scatter")));
}

TEST(configuration, the_default_policy_has_safe_waits) {
  const scheduler s({.workers = 1});
  EXPECT_EQ(s.policy(), "standard");
  EXPECT_EQ(s.join(), "transitive");
  EXPECT_EQ(s.pinning(), "none");
}

TEST(configuration, every_combination_of_the_table_works) {
  for (const auto& c : combinations()) {
    for (const auto join : c.joins) {
      scheduler s({.workers = 2, .policy = std::string(c.policy), .join = std::string(join)});
      EXPECT_EQ(s.run([] { return std::get<1>(fork_join([] { return 1; }, [] { return 2; })); }), 2);
    }
  }
}

}  // namespace
}  // namespace filch
