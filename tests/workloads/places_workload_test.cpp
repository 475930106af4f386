// The workloads of places give the right result at every place, however many there are and however they steal.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/detail/run_place.hpp>
#include <filch/filch.hpp>
#include <filch/places.hpp>

#include "places/memory_network.hpp"
#include "workload.hpp"

namespace filch::bench {
namespace {

struct set_up {
  std::string subject;
  int places;
  int workers;
  std::string policy;
  std::string communication;
};

void PrintTo(const set_up& s, std::ostream* out) {
  *out << s.subject << " at " << s.places << " places, " << s.workers << " workers, " << s.policy << ", "
       << s.communication;
}

const workload& find(std::string_view name) {
  return *std::ranges::find(workloads(), name, [](const workload& each) { return std::string_view(each.name); });
}

std::unique_ptr<instance> make(std::string_view subject) {
  const std::size_t colon = subject.find(':');
  return find(subject.substr(0, colon)).make(subject.substr(colon + 1));
}

// Runs main at every place, each in a thread.
void run_places(const set_up& how, const std::function<void()>& main) {
  detail::places::memory_hub hub(how.places);
  std::vector<std::thread> threads;
  for (int i = 0; i < how.places; ++i) {
    threads.emplace_back([&, i] {
      const auto net = hub.connect(i);
      const places::options chosen{
          .scheduler = {.workers = how.workers}, .policy = how.policy, .communication = how.communication};
      detail::places::run_place(*net, chosen, [&] {
        main();
        return 0;
      });
    });
  }
  for (std::thread& each : threads) each.join();
}

class places_workload : public testing::TestWithParam<set_up> {};

TEST_P(places_workload, is_right_everywhere) {
  std::atomic<int> right{0};
  run_places(GetParam(), [&] {
    const std::unique_ptr<instance> mine = make(GetParam().subject);
    // Twice: a second run must not see what the first left behind.
    for (int round = 0; round < 2; ++round) {
      mine->prepare();
      mine->begin(runner::filch);
      mine->run(runner::filch);
      if (mine->verify()) ++right;
    }
  });
  EXPECT_EQ(right, 2 * GetParam().places);
}

std::vector<set_up> all_set_ups() {
  std::vector<set_up> all;
  for (const char* const subject : {"uts_places:geo/a3/d=6/b0=4/seed=19", "uts_places:bin/b0=200/q=0.2/m=4/seed=1",
                                    "nqueens_places:9", "nqueens_places:4/1", "nqueens_places:1",
                                    "stencil_places:64/iterations=1", "stencil_places:128/iterations=7"}) {
    for (const int places : {1, 2, 3}) {
      for (const char* const policy : {"success_only", "baseline", "lifeline"}) {
        if (places == 1 && policy != std::string_view("success_only")) continue;
        all.push_back({subject, places, 2, policy, places == 2 ? "dedicated" : "shared"});
      }
    }
  }
  for (const char* const policy : {"success_only", "baseline", "lifeline"}) {
    all.push_back({"uts_places:T1", 3, 1, policy, "shared"});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(all, places_workload, testing::ValuesIn(all_set_ups()));

// Against published numbers, not against themselves.
TEST(places_workload, counts_are_the_published_ones) {
  const auto result_of = [](const char* subject) {
    std::string result;
    run_places({"", 2, 1, "success_only", "shared"}, [&] {
      const std::unique_ptr<instance> mine = make(subject);
      mine->prepare();
      mine->begin(runner::filch);
      mine->run(runner::filch);
      if (places::here() == 1) result = mine->result();
    });
    return result;
  };
  EXPECT_EQ(result_of("uts_places:T1"), "4130071 nodes, 3305118 leaves, depth 10");
  EXPECT_EQ(result_of("uts_places:T3"), "4112897 nodes, 3599034 leaves, depth 1572");
  EXPECT_EQ(result_of("nqueens_places:11"), "2680");
}

// The same kernel, and the same result, without places.
TEST(places_workload, runs_serially) {
  for (const char* const subject :
       {"uts_places:geo/a3/d=6/b0=4/seed=19", "nqueens_places:8", "stencil_places:64/iterations=3"}) {
    const std::unique_ptr<instance> mine = make(subject);
    mine->prepare();
    EXPECT_FALSE(mine->verify()) << subject;
    mine->begin(runner::serial);
    mine->run(runner::serial);
    EXPECT_TRUE(mine->verify()) << subject << ": " << mine->result();
  }
}

TEST(places_workload, tasks) {
  EXPECT_EQ(make("uts_places:T1")->tasks(), 4130071U);
  EXPECT_EQ(make("nqueens_places:4/1")->tasks(), 4U);
  EXPECT_EQ(make("nqueens_places:4")->tasks(), 16U);
  EXPECT_EQ(make("stencil_places:128/iterations=3")->tasks(), 384U);
}

TEST(places_workload, refuses_what_is_no_size) {
  for (const char* const subject : {"uts_places:T9", "nqueens_places:19", "nqueens_places:0", "stencil_places:100",
                                    "stencil_places:64/3", "stencil_places:64/iterations=0"}) {
    EXPECT_THROW(make(subject), std::invalid_argument) << subject;
  }
}

TEST(places_workload, has_to_have_a_row_for_each_place) {
  std::string error;
  run_places({"", 65, 1, "success_only", "shared"}, [&] {
    const std::unique_ptr<instance> mine = make("stencil_places:64");
    try {
      mine->begin(runner::filch);
    } catch (const std::runtime_error& e) {
      if (places::here() == 0) error = e.what();
    }
  });
  EXPECT_THAT(error, testing::HasSubstr("'64' has fewer rows than there are places, 65"));
}

}  // namespace
}  // namespace filch::bench
