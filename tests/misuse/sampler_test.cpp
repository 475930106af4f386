#include "sampler.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace filch::cli {
namespace {

// Counts how it is used; its result is wrong when the last run was on the runner that is said to err.
class counting_instance final : public bench::instance {
 public:
  explicit counting_instance(bench::runner erring) : erring_(erring) {}

  void prepare() override { is_prepared_ = true; }
  void run(bench::runner on) override {
    EXPECT_TRUE(is_prepared_);
    is_prepared_ = false;
    last_ = on;
  }
  std::string result() const override { return last_ == erring_ ? "41" : "42"; }
  bool verify() const override { return last_ != erring_; }
  std::uint64_t tasks() const override { return 1; }

 private:
  bench::runner erring_;
  bench::runner last_ = bench::runner::serial;
  bool is_prepared_ = false;
};

// Takes a made-up time, and writes its name into a log that executors share. The time of the serial one grows with each
// run, so that a ratio tells which serial run it was formed with.
class scripted_executor final : public executor {
 public:
  scripted_executor(bench::runner runner, int name, double seconds, std::vector<int>& log)
      : executor({.runner = runner, .workers = name}), seconds_(seconds), log_(log) {}

  double run(bench::instance& instance) override {
    instance.run(config_.runner);
    log_.push_back(config_.workers);
    steals_ += 10;
    ++runs_;
    return config_.runner == bench::runner::serial ? runs_ : seconds_;
  }
  std::optional<statistics> counters() const override { return statistics{.steals = steals_}; }
  void settle() const override {}

 private:
  double seconds_;
  std::vector<int>& log_;
  std::uint64_t steals_ = 0;
  int runs_ = 0;
};

class sampler_test : public testing::Test {
 protected:
  // One serial executor, named 0, and `count` others that each take `seconds`.
  void take(int count, double seconds, const sampling_options& options, bench::runner erring = bench::runner::tbb) {
    instance_ = std::make_unique<counting_instance>(erring);
    std::vector<executor*> others;
    for (int i = 1; i <= count; ++i) {
      others_.push_back(std::make_unique<scripted_executor>(bench::runner::filch, i, seconds, log_));
      others.push_back(others_.back().get());
    }
    sampler_ = std::make_unique<sampler>(*instance_, "test:1", serial_, others);
    progress_line progress;
    sampler_->take(options, progress);
  }

  std::vector<int> log_;
  scripted_executor serial_{bench::runner::serial, 0, 1.0, log_};
  std::vector<std::unique_ptr<executor>> others_;
  std::unique_ptr<counting_instance> instance_;
  std::unique_ptr<sampler> sampler_;
};

TEST_F(sampler_test, runs_everything_once_in_each_round_after_a_warm_up) {
  take(2, 1.0, {.rounds = 5});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sampler_->other(i).seconds.size(), 5);
    EXPECT_EQ(sampler_->other(i).ratios.size(), 5);
  }
  EXPECT_EQ(sampler_->serial().seconds, (std::vector<double>{2, 3, 4, 5, 6}));
  EXPECT_EQ(std::ranges::count(log_, 2), 6);
}

TEST_F(sampler_test, pairs_each_run_with_the_serial_run_of_its_round) {
  take(1, 60.0, {.rounds = 3});
  EXPECT_EQ(sampler_->other(0).ratios, (std::vector<double>{60.0 / 2, 60.0 / 3, 60.0 / 4}));
}

TEST_F(sampler_test, repeats_the_serial_run_in_long_rounds) {
  take(9, 1.0, {.rounds = 2});
  EXPECT_EQ(sampler_->serial().seconds.size(), 6);
  // Behind the warm-up of ten runs, no two serial runs are further apart than two whole blocks.
  int since_serial = 0;
  for (auto name = log_.begin() + 10; name != log_.end(); ++name) {
    since_serial = *name == 0 ? 0 : since_serial + 1;
    EXPECT_LE(since_serial, 8);
  }
}

TEST_F(sampler_test, changes_the_order_between_rounds) {
  take(3, 1.0, {.rounds = 20});
  const std::vector<int> first(log_.begin() + 4, log_.begin() + 8);
  bool is_always_the_same = true;
  for (auto round = log_.begin() + 8; round != log_.end(); round += 4) {
    is_always_the_same = is_always_the_same && std::equal(first.begin(), first.end(), round);
  }
  EXPECT_FALSE(is_always_the_same);
}

TEST_F(sampler_test, counts_no_events_of_the_warm_up) {
  take(1, 1.0, {.rounds = 4});
  EXPECT_EQ(sampler_->other(0).counters->steals, 40);
}

TEST_F(sampler_test, chooses_the_rounds_by_the_budget) {
  // A round is expected to take 1 s (the serial warm-up) and 9 s.
  take(1, 9.0, {.budget_s = 70, .least_rounds = 5, .most_rounds = 21});
  EXPECT_EQ(sampler_->other(0).seconds.size(), 7);
}

TEST_F(sampler_test, takes_the_least_rounds_beyond_the_budget) {
  take(1, 9.0, {.budget_s = 1, .least_rounds = 5, .most_rounds = 21});
  EXPECT_EQ(sampler_->other(0).seconds.size(), 5);
}

TEST_F(sampler_test, runs_the_slow_once_only) {
  take(1, 50.0, {.rounds = 5, .once_above_s = 10});
  EXPECT_EQ(sampler_->other(0).seconds, std::vector<double>{50});
  EXPECT_EQ(sampler_->other(0).ratios, std::vector<double>{50});
  EXPECT_EQ(sampler_->serial().seconds.size(), 5);
}

TEST_F(sampler_test, reports_a_wrong_result_once) {
  take(1, 1.0, {.rounds = 5}, bench::runner::filch);
  EXPECT_TRUE(sampler_->other(0).is_wrong);
  EXPECT_FALSE(sampler_->serial().is_wrong);
  ASSERT_EQ(sampler_->errors().size(), 1);
  EXPECT_EQ(sampler_->errors().front(),
            "test:1: wrong result '41' from filch/// with 1 worker; the serial run gave '42'");
}

TEST_F(sampler_test, reports_a_serial_run_that_is_wrong) {
  take(1, 1.0, {.rounds = 5}, bench::runner::serial);
  EXPECT_TRUE(sampler_->serial().is_wrong);
  ASSERT_EQ(sampler_->errors().size(), 1);
  EXPECT_NE(sampler_->errors().front().find("the serial run itself does not verify"), std::string::npos);
}

}  // namespace
}  // namespace filch::cli
