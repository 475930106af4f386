#include "reproduction.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filch/vm/simulation.hpp>

#include "reproduction_values.hpp"
#include "temporary_folder.hpp"
#include "workload_choice.hpp"

namespace filch::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A file that is right, with one part of it replaced.
std::string experiment_with(const std::string& part = "", const std::string& other = "") {
  std::string text = R"({
    "title": "T", "about": [], "x": "workers",
    "settings": {"A": {"policy": "lazy_depth"}, "B": {"policy": "lace", "loop": "auto", "way": "w"}},
    "runs": [{"group": "G", "machine": "1x4", "workload": "flat_loop:{x}", "workers": 4, "x": [64, {"small": 8, "paper": 9}], "seeds": 1}],
    "metrics": [{"name": "m", "title": "M", "counters": ["steals", "leaps"], "published": {"G": {"A": {"64": 3}, "B": 5}}}],
    "claims": [{"groups": ["G"], "says": "{group} is so", "left": ["{group}", "A", 64], "is": ">=", "factor": 2, "right": ["G", "B", "least"]}]
  })";
  if (const std::size_t at = text.find(part); !part.empty() && at != std::string::npos) {
    text.replace(at, part.size(), other);
  }
  return text;
}

class reproduction_file : public testing::Test {
 protected:
  reproduction load(const std::string& text, std::string_view scale = "small") {
    return load_reproduction(folder_.write("made_up.json", text), scale);
  }

  std::string error_of(const std::string& text) {
    try {
      load(text);
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr((folder_.location() / "made_up.json").string()));
      return error.what();
    }
    return "none";
  }

 private:
  const tests::temporary_folder folder_;
};

TEST_F(reproduction_file, is_read) {
  const reproduction read = load(experiment_with());
  EXPECT_EQ(read.title, "T");
  ASSERT_EQ(read.settings.size(), 2U);
  EXPECT_EQ(read.settings[0].config.policy, "lazy_depth");
  EXPECT_EQ(read.settings[1].config.loop, "auto");
  EXPECT_EQ(read.settings[1].way, "w");
  ASSERT_EQ(read.runs.size(), 1U);
  EXPECT_EQ(read.runs[0].settings, (std::vector<std::string>{"A", "B"}));
  ASSERT_EQ(read.metrics.size(), 1U);
  EXPECT_EQ(find_published(read.metrics[0], "G", "64", "A")->value, 3);
  EXPECT_EQ(find_published(read.metrics[0], "G", "8", "A"), nullptr);
  EXPECT_EQ(find_published(read.metrics[0], "G", "8", "B")->value, 5);
  ASSERT_EQ(read.claims.size(), 1U);
  EXPECT_EQ(read.claims[0].says, "G is so");
  EXPECT_EQ(read.claims[0].left.group, "G");
  EXPECT_EQ(read.claims[0].left.x, "64");
}

TEST_F(reproduction_file, has_two_scales) {
  EXPECT_EQ(load(experiment_with(), "small").runs[0].xs, (std::vector<std::string>{"64", "8"}));
  EXPECT_EQ(load(experiment_with(), "paper").runs[0].xs, (std::vector<std::string>{"64", "9"}));
}

TEST_F(reproduction_file, is_read_strictly) {
  EXPECT_THAT(error_of(""), HasSubstr("parse error"));
  EXPECT_THAT(error_of("[]"), HasSubstr("no object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("no 'title'"));
  EXPECT_THAT(error_of(experiment_with(R"("about")", R"("abuot")")), HasSubstr("no 'about'"));
  EXPECT_THAT(error_of(experiment_with(R"("about": [],)", R"("about": [], "more": 1,)")),
              HasSubstr("unknown key 'more'"));
  EXPECT_THAT(error_of(experiment_with(R"("seeds": 1)", R"("seeds": "x")")), HasSubstr("number"));
  EXPECT_THAT(error_of(experiment_with(R"("policy": "lazy_depth")", R"("policy": "lazzy")")), HasSubstr("'lazzy'"));
  EXPECT_THAT(error_of(experiment_with(R"("policy": "lazy_depth")", R"("policy": "lazy_depth", "loop": "auto")")),
              HasSubstr("does not go with loop 'auto'"));
  EXPECT_THAT(error_of(experiment_with(R"("policy": "lazy_depth")", R"("policy": "lazy_depth,lace")")),
              HasSubstr("more than one"));
  EXPECT_THAT(error_of(experiment_with(R"("leaps")", R"("leap")")), HasSubstr("unknown counter 'leap'"));
  EXPECT_THAT(error_of(experiment_with(R"("counters")", R"("per": "leap", "counters")")),
              HasSubstr("unknown counter 'leap'"));
  EXPECT_THAT(error_of(experiment_with(R"("counters")", R"("against": "C", "counters")")),
              HasSubstr("unknown setting 'C'"));
  EXPECT_THAT(error_of(experiment_with(R"(">=")", R"(">")")), HasSubstr("none of >=, <=, == and around"));
  EXPECT_THAT(error_of(experiment_with(R"(["{group}", "A", 64])", R"(["H", "A", 64])")),
              HasSubstr("unknown group 'H'"));
  EXPECT_THAT(error_of(experiment_with(R"(["{group}", "A", 64])", R"(["G", "C", 64])")),
              HasSubstr("unknown setting 'C'"));
  EXPECT_THAT(error_of(experiment_with(R"(["{group}", "A", 64])", R"(["G", "A", 65])")), HasSubstr("no '65'"));
  EXPECT_THAT(error_of(experiment_with(R"(["{group}", "A", 64])", R"(["G", "A"])")), HasSubstr("which of"));
  EXPECT_THAT(error_of(experiment_with(R"(["{group}", "A", 64])", R"(["G"])")), HasSubstr("no place"));
  EXPECT_THAT(error_of(experiment_with(R"("left")", R"("metric": "n", "left")")), HasSubstr("unknown metric 'n'"));
  EXPECT_THAT(error_of(experiment_with(R"({"G": {"A")", R"({"H": {"A")")), HasSubstr("unknown group 'H'"));
  EXPECT_THAT(error_of(experiment_with(R"({"G": {"A")", R"({"G": {"C")")), HasSubstr("unknown setting 'C'"));
}

TEST_F(reproduction_file, settings_may_have_an_interval_of_deals) {
  const auto with = [](const std::string& setting) { return experiment_with(R"({"policy": "lazy_depth"})", setting); };
  EXPECT_EQ(load(with(R"({"policy": "sender", "delta": "{x}"})")).settings[0].delta, "{x}");
  EXPECT_EQ(load(with(R"({"policy": "sender", "delta": {"small": 5, "paper": 6}})"), "paper").settings[0].delta, "6");
  EXPECT_TRUE(load(with(R"({"policy": "sender", "steal_half": true})")).settings[0].config.steal_half);
  EXPECT_THAT(error_of(with(R"({"policy": "lace", "delta": 5})")),
              HasSubstr("has 'delta', which policy 'lace' does not go with"));
}

TEST_F(reproduction_file, settings_may_have_interrupts) {
  const auto with = [](const std::string& setting) { return experiment_with(R"({"policy": "lazy_depth"})", setting); };
  const std::string both =
      R"({"policy": "sender", "interrupt_after": 0, "interrupt_every": {"small": "{x}", "paper": 7}})";
  EXPECT_EQ(load(with(both)).settings[0].interrupt_after, "0");
  EXPECT_EQ(load(with(both)).settings[0].interrupt_every, "{x}");
  EXPECT_EQ(load(with(both), "paper").settings[0].interrupt_every, "7");
  EXPECT_EQ(load(with(R"({"policy": "lace", "interrupt_after": 5})")).settings[0].interrupt_after, "5");
  EXPECT_THAT(error_of(with(R"({"policy": "lace", "interrupt_every": 5})")),
              HasSubstr("has 'interrupt_every', which policy 'lace' does not go with"));
  EXPECT_THAT(error_of(with(R"({"policy": "lazy_depth", "interrupt_after": 5})")),
              HasSubstr("has 'interrupt_after', which policy 'lazy_depth' does not go with"));
  EXPECT_THAT(error_of(with(R"({"policy": "sender", "interrupt_evry": 5})")),
              HasSubstr("unknown key 'interrupt_evry'"));
}

TEST_F(reproduction_file, settings_may_pin_workers_and_runs_place_data) {
  const auto with = [](const std::string& setting) { return experiment_with(R"({"policy": "lazy_depth"})", setting); };
  EXPECT_EQ(load(with(R"({"policy": "lace", "pinning": "scatter"})")).settings[0].config.pinning, "scatter");
  EXPECT_THAT(error_of(with(R"({"policy": "lace", "pinning": "scater"})")), HasSubstr("unknown pinning 'scater'"));
  const auto placed = [&](const std::string& numa) {
    std::string text = with(R"({"policy": "lace"})");
    const std::string runs = R"("group": "G", )";
    return text.replace(text.find(runs), runs.size(), runs + numa);
  };
  EXPECT_EQ(load(placed("")).runs[0].numa, std::nullopt);
  EXPECT_EQ(load(placed(R"("numa": "interleave", )")).runs[0].numa, vm::numa_policy::interleave);
  EXPECT_THAT(error_of(placed(R"("numa": "local", )")), HasSubstr("unknown numa 'local'"));
  const reproduction apart = load(placed(R"("numa": "interleave", "serial_numa": "first_touch", )"));
  EXPECT_EQ(apart.runs[0].serial_numa, vm::numa_policy::first_touch);
  EXPECT_THAT(error_of(placed(R"("serial_numa": "local", )")), HasSubstr("unknown serial_numa 'local'"));
  EXPECT_EQ(load(with(R"({"policy": "lace", "spin": 7})")).settings[0].config.spin_ns, 7);
  EXPECT_THAT(error_of(with(R"({"policy": "lace", "spin": -7})")), HasSubstr("'-7'"));
}

TEST_F(reproduction_file, runs_have_rows) {
  EXPECT_THAT(error_of(experiment_with(R"("x": [64, {"small": 8, "paper": 9}])", R"("x": [])")),
              HasSubstr("group 'G' has no x"));
}

TEST_F(reproduction_file, amounts_are_of_groups) {
  const std::string counters = R"("counters": ["steals", "leaps"])";
  EXPECT_EQ(load(experiment_with(counters, R"("amounts": {"G": 5})")).metrics[0].amounts.size(), 1U);
  EXPECT_THAT(error_of(experiment_with(counters, R"("amounts": {"H": 5})")), HasSubstr("unknown group 'H'"));
}

TEST_F(reproduction_file, runs_may_be_on_this_machine) {
  const auto with = [](const std::string& more, const std::string& claim = R"(["G", "B", "least"])") {
    std::string text = experiment_with(R"(["G", "B", "least"])", claim);
    const std::string last = R"("seeds": 1}],)";
    text.replace(text.find(last), last.size(), R"("seeds": 1, "settings": ["A", "B"]}],)");
    const std::string runs = R"("runs": [)";
    text.replace(text.find(runs), runs.size(), runs + more);
    const std::string settings = R"("settings": {)";
    return text.replace(text.find(settings), settings.size(),
                        settings + R"("N": {"policy": "lace"}, "M": {"policy": "lace"}, "O": {"runner": "openmp"},
                                   "I": {"policy": "sender", "interrupt_every": 5},)");
  };
  const auto here = [](const std::string& settings) {
    return R"({"group": "H", "machine": "this machine", "workload": "fib:5", "workers": "all", "x": ["all"], "seeds": 1,
               "settings": )" +
           settings + "},";
  };
  const std::string simulated = R"({"group": "I", "machine": "1x4", "workload": "fib:5", "workers": 4, "x": [4],
                                    "seeds": 1, "settings": ["O"]},)";
  const reproduction read = load(with(here(R"(["N", "O"])")));
  EXPECT_TRUE(read.runs.front().is_native());
  EXPECT_TRUE(read.settings[2].is_peer());
  EXPECT_THAT(error_of(with(simulated)), HasSubstr("setting 'O' is a runner that cannot be simulated; group 'I'"));
  EXPECT_THAT(error_of(with(here(R"(["B"])"))), HasSubstr("setting 'B' has more than a policy"));
  EXPECT_THAT(error_of(with(here(R"(["I"])"))), HasSubstr("setting 'I' has more than a policy"));
  EXPECT_THAT(error_of(with(here(R"(["N", "M"])"))), HasSubstr("two settings with the same policy"));
  EXPECT_THAT(error_of(with(here(R"(["N"])"), R"(["H", "N", "least"])")), HasSubstr("only simulations are judged"));
}

// One point for each setting and x; `steals` is what is measured.
measured_point point_of(const std::string& x, const std::string& setting, std::uint64_t steals, double factor = 1) {
  result_row row{};
  row.runs = 1;
  row.ratio_to_serial = 1;
  row.counters = statistics{.steals = steals};
  row.simulated = simulated_on{"1x4", "first_touch", factor};
  return {"G", x, setting, row};
}

TEST_F(reproduction_file, claims_are_judged) {
  const reproduction read = load(experiment_with());
  const auto judged = [&](std::uint64_t left, std::uint64_t right, std::uint64_t other_right) {
    const std::vector<measured_point> points{point_of("64", "A", left), point_of("8", "A", 1000),
                                             point_of("64", "B", right), point_of("8", "B", other_right)};
    return judge(read, {1.0}, points).front().holds;
  };
  EXPECT_TRUE(judged(10, 5, 100));
  EXPECT_TRUE(judged(10, 100, 5));
  EXPECT_FALSE(judged(9, 5, 100));
  EXPECT_FALSE(judged(9, 100, 5));
}

TEST_F(reproduction_file, claims_hold_for_every_speed_of_communication) {
  const reproduction read = load(experiment_with());
  const std::vector<measured_point> points{point_of("64", "A", 10), point_of("8", "B", 5), point_of("64", "A", 9, 0.7),
                                           point_of("8", "B", 5, 0.7)};
  const std::vector<judged_claim> judged = judge(read, {1.0, 0.7}, points);
  ASSERT_EQ(judged.size(), 2U);
  EXPECT_TRUE(judged[0].holds);
  EXPECT_FALSE(judged[1].holds);
}

TEST_F(reproduction_file, metrics_may_be_ratios_and_differences) {
  compared_metric metric{.name = "m",
                         .title = "M",
                         .counters = {"steals", "leaps"},
                         .per = "parks",
                         .against = {},
                         .amounts = {},
                         .published = {}};
  measured_point point = point_of("64", "A", 10);
  EXPECT_EQ(value_of(metric, point, {}), std::nullopt);
  point.row.runs = 7;  // sums over the runs are divided by sums
  point.row.counters->leaps = 5;
  point.row.counters->parks = 3;
  EXPECT_EQ(value_of(metric, point, {}), 5);
  point.row.counters.reset();
  EXPECT_EQ(value_of(metric, point, {}), std::nullopt);

  metric.against = "B";
  measured_point other = point_of("64", "B", 0);
  point.row.seconds_median = 3;
  other.row.seconds_median = 2;
  EXPECT_EQ(value_of(metric, point, {point, point_of("8", "B", 0), point_of("64", "B", 0, 0.7)}), std::nullopt);
  EXPECT_EQ(value_of(metric, point, {point, other}), 50);

  metric.against.clear();
  metric.amounts = {{"G", 6e9}};
  EXPECT_EQ(value_of(metric, point, {point}), 2);
  metric.amounts = {{"H", 6e9}};
  EXPECT_EQ(value_of(metric, point, {point}), std::nullopt);
}

TEST_F(reproduction_file, claims_about_what_failed_do_not_hold) {
  const reproduction read = load(experiment_with());
  const judged_claim judged = judge(read, {1.0}, {point_of("64", "A", 10)}).front();
  EXPECT_FALSE(judged.holds);
  EXPECT_EQ(judged.left, 10);
  EXPECT_EQ(judged.right, std::nullopt);
}

TEST(replaced, replaces_every_name) {
  EXPECT_EQ(replaced("{x}/{way}/{x}{y}", {{"x", "1"}, {"way", "{x}"}}), "1/{x}/1{y}");
}

TEST(reproduction, papers_name_their_files) {
  const std::vector<reproduced_paper> papers = load_papers(REPRODUCE_FOLDER);
  EXPECT_FALSE(papers.empty());
  for (const reproduced_paper& paper : papers) {
    std::set<std::string> files;
    for (const auto& each : fs::directory_iterator(fs::path(REPRODUCE_FOLDER) / paper.name)) {
      files.insert(each.path().stem().string());
    }
    std::set<std::string> named(paper.experiments.begin(), paper.experiments.end());
    named.insert("paper");
    EXPECT_EQ(files, named) << paper.name;
  }
}

TEST(reproduction, files_can_be_run_at_both_scales) {
  for (const reproduced_paper& paper : load_papers(REPRODUCE_FOLDER)) {
    for (const std::string& name : paper.experiments) {
      for (const char* const scale : {"small", "paper"}) {
        const reproduction read = load_reproduction(fs::path(REPRODUCE_FOLDER) / paper.name / (name + ".json"), scale);
        for (const planned_runs& runs : read.runs) {
          if (!runs.is_native()) {
            EXPECT_NO_THROW(vm::load_machine(runs.machine, MACHINES_FOLDER)) << name << " " << scale;
          }
          std::set<std::string> workloads;
          for (const compared_setting& setting : read.settings) {
            workloads.insert(replaced(runs.workload, {{"x", runs.xs.front()}, {"way", setting.way}}));
          }
          for (const std::string& workload : workloads) {
            EXPECT_NO_THROW(choose_workload(workload).make()) << name << " " << scale;
          }
        }
      }
    }
  }
}

TEST(reproduction, no_papers_are_an_error) {
  EXPECT_THROW(load_papers(tests::temporary_folder().location() / "nowhere"), std::runtime_error);
}

}  // namespace
}  // namespace filch::cli
