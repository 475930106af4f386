#include "vm/machine/machine_file.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "temporary_folder.hpp"

namespace filch::platform::vm {
namespace {

using filch::tests::temporary_folder;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using testing::StartsWith;
using path = std::filesystem::path;

const path machines = MACHINES_FOLDER;

std::string complaint_about(const std::string& machine, const path& folder = machines) {
  try {
    static_cast<void>(load_machine(machine, folder));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "no complaint";
}

json generic() { return json::parse(std::ifstream(machines / "generic.json")); }

/// What is said of a file with this text.
std::string complaint_about_text(const std::string& text) {
  const temporary_folder folder;
  const std::string message = complaint_about(folder.write("bad.json", text).string());
  if (message == "no complaint") return message;
  EXPECT_THAT(message, StartsWith("machine file '" + (folder.location() / "bad.json").string() + "'"));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  return message;
}

/// What is said of the generic machine with one value replaced or added.
std::string complaint_about_value(const std::string& pointer, const json& value) {
  json machine = generic();
  machine[json::json_pointer(pointer)] = value;
  return complaint_about_text(machine.dump(2));
}

std::string complaint_without(const std::string& group, const std::string& key) {
  json machine = generic();
  machine.at(json::json_pointer(group)).erase(key);
  return complaint_about_text(machine.dump(2));
}

TEST(machine_file, every_shipped_machine_loads_and_says_where_each_group_of_figures_is_from) {
  const auto names = machine_names(machines);
  EXPECT_THAT(names, IsSupersetOf({"edison", "generic", "i7-920", "local", "opteron-6168", "ultrasparc-t2",
                                   "xeon-e7450", "xeon-gold-6130", "xeon-x7550"}));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const machine_description machine = load_machine(name, machines);
    EXPECT_EQ(machine.name, name);
    EXPECT_THAT(machine.about, Contains(Key("machine")));
    for (const char* group : {"shape", "lines", "memory", "data", "system", "runtime", "work"}) {
      ASSERT_THAT(machine.sources, Contains(Key(group)));
      EXPECT_FALSE(machine.sources.at(group).empty()) << group;
    }
    EXPECT_EQ(machine.network.has_value(), machine.sources.contains("network"));
  }
}

TEST(machine_file, every_shipped_machine_has_all_prices) {
  std::set<std::string> all;
  for (const std::string& name : machine_names(machines)) {
    for (const auto& [work, price] : load_machine(name, machines).work) all.insert(work);
  }
  EXPECT_GE(all.size(), 19U);
  for (const std::string& name : machine_names(machines))
    EXPECT_EQ(load_machine(name, machines).work.size(), all.size());
}

TEST(machine_file, every_shipped_machine_is_slower_the_farther_away) {
  for (const std::string& name : machine_names(machines)) {
    SCOPED_TRACE(name);
    const machine_description machine = load_machine(name, machines);
    const line_costs& lines = machine.lines;
    for (const by_distance& transfer : {lines.load_owned, lines.load_shared, lines.store_owned, lines.store_shared}) {
      EXPECT_LT(lines.hit_ns, transfer.same_socket_ns);
      EXPECT_LE(transfer.same_socket_ns, transfer.other_socket_ns);
    }
    EXPECT_LE(machine.memory.local_ns, machine.memory.remote_ns);
    const data_costs& data = machine.data;
    EXPECT_LE(data.private_line_ns, data.shared_line_ns);
    EXPECT_LE(data.shared_line_ns, data.local_memory_line_ns);
    EXPECT_LE(data.local_memory_line_ns, data.remote_memory_line_ns);
    EXPECT_LE(data.memory_interval_ns, data.local_memory_line_ns);
  }
}

TEST(machine_file, machines_of_the_papers_have_their_numbers_of_threads) {
  EXPECT_EQ(load_machine("opteron-6168", machines).hardware_threads(), 48);
  EXPECT_EQ(load_machine("xeon-x7550", machines).hardware_threads(), 32);
  EXPECT_EQ(load_machine("xeon-gold-6130", machines).hardware_threads(), 64);
  EXPECT_EQ(load_machine("i7-920", machines).hardware_threads(), 8);
  EXPECT_EQ(load_machine("xeon-e7450", machines).hardware_threads(), 24);
  EXPECT_EQ(load_machine("ultrasparc-t2", machines).cores(), 8);
  EXPECT_EQ(load_machine("ultrasparc-t2", machines).hardware_threads(), 64);
  EXPECT_EQ(load_machine("edison", machines).hardware_threads(), 24);
}

// Each value is another one, so that a figure read into the wrong member is found.
TEST(machine_file, every_figure_gets_to_its_member) {
  const temporary_folder folder;
  const path file = folder.write("odd.json", R"({
    "about": {"machine": "none"}, "sources": {"lines": "invented"}, "calibrated": true,
    "shape": {"sockets": 2, "cores_per_socket": 3, "threads_per_core": 4, "core_throughput": 1.5, "clock_ghz": 5.5},
    "lines": {"hit_ns": 1, "load_owned": {"same_socket_ns": 2, "other_socket_ns": 3},
              "load_shared": {"same_socket_ns": 4, "other_socket_ns": 5},
              "store_owned": {"same_socket_ns": 6, "other_socket_ns": 7},
              "store_shared": {"same_socket_ns": 8, "other_socket_ns": 9}, "atomic_extra_ns": 10},
    "memory": {"local_ns": 11, "remote_ns": 12},
    "data": {"private_bytes": 13, "shared_bytes": 14, "shared_cache": "non_inclusive", "numa": "interleave",
             "private_line_ns": 15, "shared_line_ns": 16, "local_memory_line_ns": 17, "remote_memory_line_ns": 18, "memory_interval_ns": 19},
    "system": {"pause_ns": 20, "park_ns": 21, "wake_call_ns": 22, "wake_latency_ns": 23, "signal_call_ns": 24,
               "signal_latency_ns": 25},
    "runtime": {"spawn_ns": 26},
    "network": {"latency_ns": 50, "ns_per_byte": 51, "send_overhead_ns": 52, "receive_overhead_ns": 53, "read_ns": 54,
                "atomic_ns": 55, "poll_ns": 56, "jitter": 57},
    "work": {"fib_call_ns": 27, "nqueens_check_ns": 28, "uts_node_ns": 29, "uts_geometric_node_ns": 30,
             "matmul_madd_ns": 31, "cilksort_compare_ns": 32, "heat_cell_ns": 33.5, "sgemm_madd_ns": 33.75,
             "tsp_step_ns": 34.5, "spmv_nonzero_ns": 35.5, "bfs_edge_ns": 36.5,
             "floyd_warshall_cell_ns": 37.5, "mm_madd_ns": 38.5, "conv_madd_ns": 39.5,
             "spin_step_ns": 41.5,
             "matching_try_ns": 42.5, "mis_edge_ns": 43.5, "hull_point_ns": 44.5,
             "samplesort_compare_ns": 45.5, "dfs_edge_ns": 46.5}})");
  const machine_description m = load_machine(file.string(), machines);
  EXPECT_EQ(m.name, "odd");
  EXPECT_EQ(m.about.at("machine"), "none");
  EXPECT_EQ(m.sources.at("lines"), "invented");
  EXPECT_TRUE(m.calibrated);
  EXPECT_EQ(m.sockets, 2);
  EXPECT_EQ(m.cores_per_socket, 3);
  EXPECT_EQ(m.threads_per_core, 4);
  EXPECT_EQ(m.cores(), 6);
  EXPECT_EQ(m.hardware_threads(), 24);
  EXPECT_EQ(m.core_throughput, 1.5);
  EXPECT_EQ(m.clock_ghz, 5.5);
  EXPECT_EQ(m.lines.hit_ns, 1);
  EXPECT_EQ(m.lines.load_owned.same_socket_ns, 2);
  EXPECT_EQ(m.lines.load_owned.other_socket_ns, 3);
  EXPECT_EQ(m.lines.load_shared.same_socket_ns, 4);
  EXPECT_EQ(m.lines.load_shared.other_socket_ns, 5);
  EXPECT_EQ(m.lines.store_owned.same_socket_ns, 6);
  EXPECT_EQ(m.lines.store_owned.other_socket_ns, 7);
  EXPECT_EQ(m.lines.store_shared.same_socket_ns, 8);
  EXPECT_EQ(m.lines.store_shared.other_socket_ns, 9);
  EXPECT_EQ(m.lines.atomic_extra_ns, 10);
  EXPECT_EQ(m.memory.local_ns, 11);
  EXPECT_EQ(m.memory.remote_ns, 12);
  EXPECT_EQ(m.data.private_bytes, 13);
  EXPECT_EQ(m.data.shared_bytes, 14);
  EXPECT_EQ(m.data.shared_cache, shared_cache_kind::non_inclusive);
  EXPECT_EQ(m.data.numa, numa_policy::interleave);
  EXPECT_EQ(m.data.private_line_ns, 15);
  EXPECT_EQ(m.data.shared_line_ns, 16);
  EXPECT_EQ(m.data.local_memory_line_ns, 17);
  EXPECT_EQ(m.data.remote_memory_line_ns, 18);
  EXPECT_EQ(m.data.memory_interval_ns, 19);
  EXPECT_EQ(m.system.pause_ns, 20);
  EXPECT_EQ(m.system.park_ns, 21);
  EXPECT_EQ(m.system.wake_call_ns, 22);
  EXPECT_EQ(m.system.wake_latency_ns, 23);
  EXPECT_EQ(m.system.signal_call_ns, 24);
  EXPECT_EQ(m.system.signal_latency_ns, 25);
  EXPECT_EQ(m.runtime.spawn_ns, 26);
  ASSERT_TRUE(m.network.has_value());
  EXPECT_EQ(m.network->latency_ns, 50);
  EXPECT_EQ(m.network->ns_per_byte, 51);
  EXPECT_EQ(m.network->send_overhead_ns, 52);
  EXPECT_EQ(m.network->receive_overhead_ns, 53);
  EXPECT_EQ(m.network->read_ns, 54);
  EXPECT_EQ(m.network->atomic_ns, 55);
  EXPECT_EQ(m.network->poll_ns, 56);
  EXPECT_EQ(m.network->jitter, 57);
  EXPECT_EQ(m.work.at("fib_call"), 27);
  EXPECT_EQ(m.work.at("nqueens_check"), 28);
  EXPECT_EQ(m.work.at("uts_node"), 29);
  EXPECT_EQ(m.work.at("uts_geometric_node"), 30);
  EXPECT_EQ(m.work.at("matmul_madd"), 31);
  EXPECT_EQ(m.work.at("cilksort_compare"), 32);
  EXPECT_EQ(m.work.at("heat_cell"), 33.5);
  EXPECT_EQ(m.work.at("sgemm_madd"), 33.75);
  EXPECT_EQ(m.work.at("tsp_step"), 34.5);
  EXPECT_EQ(m.work.at("spmv_nonzero"), 35.5);
  EXPECT_EQ(m.work.at("bfs_edge"), 36.5);
  EXPECT_EQ(m.work.at("floyd_warshall_cell"), 37.5);
  EXPECT_EQ(m.work.at("mm_madd"), 38.5);
  EXPECT_EQ(m.work.at("conv_madd"), 39.5);
  EXPECT_EQ(m.work.at("spin_step"), 41.5);
  EXPECT_EQ(m.work.at("matching_try"), 42.5);
  EXPECT_EQ(m.work.at("mis_edge"), 43.5);
  EXPECT_EQ(m.work.at("hull_point"), 44.5);
  EXPECT_EQ(m.work.at("samplesort_compare"), 45.5);
  EXPECT_EQ(m.work.at("dfs_edge"), 46.5);
}

TEST(machine_file, a_shape_is_the_generic_machine_with_other_counts) {
  const machine_description any = load_machine("generic", machines);
  const machine_description shape = load_machine("4x12", machines);
  EXPECT_EQ(shape.name, "4x12");
  EXPECT_EQ(shape.sockets, 4);
  EXPECT_EQ(shape.cores_per_socket, 12);
  EXPECT_EQ(shape.hardware_threads(), 48);
  EXPECT_EQ(shape.lines.load_owned.other_socket_ns, any.lines.load_owned.other_socket_ns);
  EXPECT_EQ(shape.work.at("fib_call"), any.work.at("fib_call"));
  EXPECT_EQ(load_machine("1x1", machines).hardware_threads(), 1);
  EXPECT_EQ(load_machine("1x65535", machines).hardware_threads(), 65535);
  EXPECT_EQ(load_machine("65535x1", machines).hardware_threads(), 65535);
}

TEST(machine_file, a_bad_shape_is_named) {
  EXPECT_EQ(complaint_about("0x4"), "machine '0x4' has no sockets; give 1 or more of them, as in 4x12");
  EXPECT_EQ(complaint_about("4x0"), "machine '4x0' has no cores per socket; give 1 or more of them, as in 4x12");
  EXPECT_EQ(complaint_about("1x65536"),
            "machine '1x65536' has too many cores per socket; give at most 65535 cores in all");
  EXPECT_EQ(complaint_about("256x256"), "machine '256x256' has 65536 cores; give at most 65535");
  EXPECT_EQ(complaint_about("99999999999999999999x1"),
            "machine '99999999999999999999x1' has too many sockets; give at most 65535 cores in all");
  for (const char* no_shape : {"x", "4x", "x4", "4x4x4", "-1x4", "4 x 12", "4X12", "+4x12", "1.5x2"}) {
    EXPECT_THAT(complaint_about(no_shape),
                AllOf(StartsWith("unknown machine '" + std::string(no_shape) + "'; use one of "), HasSubstr("4x12")));
  }
}

TEST(machine_file, a_shape_needs_the_generic_file) {
  const temporary_folder empty;
  EXPECT_THAT(complaint_about("2x2", empty.location()),
              AllOf(HasSubstr("generic.json' cannot be read"), HasSubstr(";")));
}

TEST(machine_file, an_unknown_name_lists_the_known_ones) {
  EXPECT_EQ(complaint_about("opteron"),
            "unknown machine 'opteron'; use one of edison, generic, i7-920, local, opteron-6168, "
            "ultrasparc-t2, xeon-e7450, xeon-gold-6130, xeon-x7550, the path of a JSON file, or a shape such as 4x12");
  EXPECT_THAT(complaint_about(""), StartsWith("unknown machine ''; use one of edison, generic"));
  EXPECT_THAT(complaint_about("two\nlines"), StartsWith("unknown machine 'two?lines'"));
  const path nowhere = machines / "nowhere";
  EXPECT_THAT(complaint_about("local", nowhere),
              AllOf(StartsWith("machine folder '" + nowhere.string() + "' cannot be read (No such file"),
                    EndsWith("; give the path of a machine file instead of a name")));
}

TEST(machine_file, an_unreadable_path_says_why) {
  const temporary_folder folder;
  EXPECT_THAT(
      complaint_about("missing.json"),
      AllOf(StartsWith("machine file 'missing.json' cannot be read (No such file"), HasSubstr("; give the path")));
  EXPECT_THAT(complaint_about(folder.location().string()), HasSubstr("cannot be read (it is a folder); give"));
}

TEST(machine_file, bad_json_is_located) {
  EXPECT_THAT(complaint_about_text("{\n  \"about\": {},\n  \"shape\" 3\n}"),
              AllOf(HasSubstr("is not valid JSON at line 3, column 11: syntax error while parsing"),
                    EndsWith("; correct it there")));
  EXPECT_THAT(complaint_about_text(""), HasSubstr("is not valid JSON at line 1, column 1: syntax error"));
  EXPECT_THAT(complaint_about_text("{\"a\": 1e999}"), HasSubstr("is not valid JSON: number overflow"));
  EXPECT_THAT(complaint_about_text("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}"),
              EndsWith("the key \"a\" is given twice; give it once"));
  EXPECT_THAT(complaint_about_text("[1, 2]"), EndsWith("the file is [1,2]; give an object, {...}"));
  EXPECT_THAT(complaint_about_text("{\"lin\nes\": 3}"), HasSubstr("is not valid JSON"));
  EXPECT_THAT(complaint_about_text("{\"\xff\": 3}"), HasSubstr("is not valid JSON"));
}

TEST(machine_file, a_missing_key_is_named) {
  EXPECT_THAT(complaint_without("/lines", "hit_ns"),
              EndsWith("': lines.hit_ns is missing; give nanoseconds, a number from 0 to 1e9"));
  EXPECT_THAT(complaint_without("/lines/store_shared", "other_socket_ns"),
              EndsWith("': lines.store_shared.other_socket_ns is missing; give nanoseconds, a number from 0 to 1e9"));
  EXPECT_THAT(complaint_without("", "work"), EndsWith("': work is missing; give an object, {...}"));
  EXPECT_THAT(complaint_without("", "calibrated"), EndsWith("': calibrated is missing; give true or false"));
  EXPECT_THAT(complaint_without("/shape", "sockets"),
              EndsWith("': shape.sockets is missing; give a whole number from 1 to 65535"));
  EXPECT_THAT(complaint_without("/data", "numa"),
              EndsWith("': data.numa is missing; give \"first_touch\" or \"interleave\""));
}

// No figure has a default: leaving out any one of them is an error that names it. (A price of work is missed by the
// workload that wants it.)
TEST(machine_file, every_key_but_about_sources_and_network_is_needed) {
  json machine = generic();
  machine["network"] = json::parse(std::ifstream(machines / "edison.json")).at("network");
  const auto complaint_without = [&](const std::string& group, const std::string& key) {
    json rest = machine;
    rest.at(json::json_pointer(group)).erase(key);
    return complaint_about_text(rest.dump(2));
  };
  for (const auto& [group, figures] : machine.items()) {
    if (group == "about" || group == "sources") {
      EXPECT_EQ(complaint_without("", group), "no complaint");
      continue;
    }
    if (group == "network") {
      EXPECT_EQ(complaint_without("", group), "no complaint");
    } else {
      EXPECT_THAT(complaint_without("", group), HasSubstr("': " + group + " is missing"));
    }
    if (!figures.is_object() || group == "work") continue;
    for (const auto& [key, value] : figures.items()) {
      std::string name = group;
      name.append(".").append(key);
      EXPECT_THAT(complaint_without("/" + group, key), HasSubstr("': " + name + " is missing"));
    }
  }
}

TEST(machine_file, an_impossible_figure_is_named) {
  EXPECT_THAT(complaint_about_value("/memory/remote_ns", -3),
              EndsWith("': memory.remote_ns is -3; give nanoseconds, a number from 0 to 1e9"));
  EXPECT_THAT(complaint_about_value("/lines/load_owned/same_socket_ns", "fast"),
              EndsWith("': lines.load_owned.same_socket_ns is \"fast\"; give nanoseconds, a number from 0 to 1e9"));
  EXPECT_THAT(complaint_about_value("/work/fib_call_ns", 1e300),
              EndsWith("': work.fib_call_ns is 1e+300; give nanoseconds, a number from 0 to 1e9"));
  EXPECT_EQ(complaint_about_value("/system/park_ns", 1e9), "no complaint");
  EXPECT_THAT(complaint_about_value("/system/park_ns", 1.1e9), HasSubstr("system.park_ns is 1100000000.0; give"));
  EXPECT_THAT(complaint_about_value("/lines/load_owned", 5),
              EndsWith("': lines.load_owned is 5; give an object, {...}"));
  EXPECT_THAT(complaint_about_value("/work/uts_node_ns", nullptr), HasSubstr("work.uts_node_ns is null; give"));
  EXPECT_THAT(complaint_about_value("/work/uts_node", 5),
              EndsWith("work.uts_node has no unit; let the name end with _ns"));
  EXPECT_THAT(complaint_about_value("/data/private_bytes", 1.5),
              HasSubstr("data.private_bytes is 1.5; give a whole number from 0 to"));
  EXPECT_THAT(complaint_about_value("/data/shared_bytes", -1), HasSubstr("data.shared_bytes is -1; give"));
  EXPECT_THAT(complaint_about_value("/data/shared_bytes", std::numeric_limits<std::uint64_t>::max()),
              HasSubstr("data.shared_bytes is 18446744073709551615; give"));
  EXPECT_THAT(complaint_about_value("/data/numa", "firsttouch"),
              EndsWith("': data.numa is \"firsttouch\"; give \"first_touch\" or \"interleave\""));
  EXPECT_THAT(complaint_about_value("/data/shared_cache", "exclusive"),
              EndsWith("': data.shared_cache is \"exclusive\"; give \"inclusive\" or \"non_inclusive\""));
  EXPECT_THAT(complaint_about_value("/data/shared_cache", true), HasSubstr("data.shared_cache is true; give"));
  EXPECT_THAT(complaint_about_value("/calibrated", "yes"), EndsWith("': calibrated is \"yes\"; give true or false"));
  EXPECT_THAT(complaint_about_value("/shape/clock_ghz", 0), HasSubstr("shape.clock_ghz is 0; give gigahertz"));
  EXPECT_THAT(complaint_about_value("/shape/core_throughput", 1.5),
              EndsWith("': shape.core_throughput is 1.5; give a number from 1 to threads_per_core"));
  EXPECT_THAT(complaint_about_value("/sources/lines", 3), EndsWith("': sources.lines is 3; give a text in quotes"));
  EXPECT_THAT(complaint_about_value("/network", "fast"), EndsWith("': network is \"fast\"; give an object, {...}"));
  json network = json::parse(std::ifstream(machines / "edison.json"));
  network["network"]["jitter"] = -0.5;
  EXPECT_THAT(complaint_about_text(network.dump()),
              EndsWith("': network.jitter is -0.5; give a share, a number from 0 to 1000"));
  EXPECT_THAT(complaint_about_value("/about", "a text"), EndsWith("': about is \"a text\"; give an object, {...}"));
  EXPECT_THAT(complaint_about_value("/data/numa", std::string(1000, 'n')), HasSubstr("nnn...; give"));
}

TEST(machine_file, impossible_counts_are_named) {
  EXPECT_THAT(complaint_about_value("/shape/sockets", 0),
              EndsWith("': shape.sockets is 0; give a whole number from 1 to 65535"));
  EXPECT_THAT(complaint_about_value("/shape/cores_per_socket", 0), HasSubstr("shape.cores_per_socket is 0; give"));
  EXPECT_THAT(complaint_about_value("/shape/threads_per_core", -2), HasSubstr("shape.threads_per_core is -2; give"));
  EXPECT_THAT(complaint_about_value("/shape/sockets", 65536), HasSubstr("shape.sockets is 65536; give"));
  json large = generic();
  large["shape"]["sockets"] = 65535;
  large["shape"]["cores_per_socket"] = 65535;
  large["shape"]["threads_per_core"] = 65535;
  EXPECT_THAT(complaint_about_text(large.dump()),
              EndsWith("': shape has 281462092005375 hardware threads; give at most 65535"));
}

TEST(machine_file, an_unknown_key_is_an_error_except_where_people_write) {
  EXPECT_THAT(complaint_about_value("/memory/lokal_ns", 3),
              EndsWith("': memory has the unknown key \"lokal_ns\"; remove it, or use one of local_ns, remote_ns"));
  EXPECT_THAT(complaint_about_value("/lines/load_owned/far_ns", 3),
              HasSubstr("': lines.load_owned has the unknown key \"far_ns\"; remove it"));
  EXPECT_THAT(complaint_about_value("/colour", "red"),
              EndsWith("': has the unknown key \"colour\"; remove it, or use one of about, calibrated, data, lines, "
                       "memory, network, runtime, shape, sources, system, work"));
  EXPECT_THAT(complaint_about_value("/two\nlines", 1), HasSubstr("has the unknown key \"two\\nlines\""));
  EXPECT_EQ(complaint_about_value("/about/anything", "at all"), "no complaint");
  EXPECT_EQ(complaint_about_value("/sources/anything", "at all"), "no complaint");
}

TEST(machine_file, scaling_changes_communication_and_nothing_else) {
  const machine_description before = load_machine("opteron-6168", machines);
  const machine_description after = scaled(before, 1.5);
  const auto expect_longer = [](double original, double longer) { EXPECT_DOUBLE_EQ(longer, 1.5 * original); };
  const auto expect_all_longer = [&](const by_distance& original, const by_distance& longer) {
    expect_longer(original.same_socket_ns, longer.same_socket_ns);
    expect_longer(original.other_socket_ns, longer.other_socket_ns);
  };
  expect_all_longer(before.lines.load_owned, after.lines.load_owned);
  expect_all_longer(before.lines.load_shared, after.lines.load_shared);
  expect_all_longer(before.lines.store_owned, after.lines.store_owned);
  expect_all_longer(before.lines.store_shared, after.lines.store_shared);
  expect_longer(before.memory.local_ns, after.memory.local_ns);
  expect_longer(before.memory.remote_ns, after.memory.remote_ns);
  expect_longer(before.data.shared_line_ns, after.data.shared_line_ns);
  expect_longer(before.data.local_memory_line_ns, after.data.local_memory_line_ns);
  expect_longer(before.data.remote_memory_line_ns, after.data.remote_memory_line_ns);
  expect_longer(before.data.memory_interval_ns, after.data.memory_interval_ns);
  expect_longer(before.system.park_ns, after.system.park_ns);
  expect_longer(before.system.wake_call_ns, after.system.wake_call_ns);
  expect_longer(before.system.wake_latency_ns, after.system.wake_latency_ns);
  expect_longer(before.system.signal_call_ns, after.system.signal_call_ns);
  expect_longer(before.system.signal_latency_ns, after.system.signal_latency_ns);

  const network_costs wires = *load_machine("edison", machines).network;
  const network_costs longer_wires = *scaled(load_machine("edison", machines), 1.5).network;
  expect_longer(wires.latency_ns, longer_wires.latency_ns);
  expect_longer(wires.ns_per_byte, longer_wires.ns_per_byte);
  expect_longer(wires.read_ns, longer_wires.read_ns);
  expect_longer(wires.atomic_ns, longer_wires.atomic_ns);
  EXPECT_EQ(longer_wires.send_overhead_ns, wires.send_overhead_ns);
  EXPECT_EQ(longer_wires.receive_overhead_ns, wires.receive_overhead_ns);
  EXPECT_EQ(longer_wires.poll_ns, wires.poll_ns);
  EXPECT_EQ(longer_wires.jitter, wires.jitter);

  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.hardware_threads(), before.hardware_threads());
  EXPECT_EQ(after.lines.hit_ns, before.lines.hit_ns);
  EXPECT_EQ(after.lines.atomic_extra_ns, before.lines.atomic_extra_ns);
  EXPECT_EQ(after.data.private_line_ns, before.data.private_line_ns);
  EXPECT_EQ(after.data.private_bytes, before.data.private_bytes);
  EXPECT_EQ(after.system.pause_ns, before.system.pause_ns);
  EXPECT_EQ(after.runtime.spawn_ns, before.runtime.spawn_ns);
  EXPECT_EQ(after.work.at("fib_call"), before.work.at("fib_call"));
  EXPECT_EQ(after.work.at("heat_cell"), before.work.at("heat_cell"));
}

TEST(machine_file, a_factor_that_is_no_scale_is_named) {
  const machine_description machine = load_machine("2x2", machines);
  for (const double factor : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(static_cast<void>(scaled(machine, factor)), std::invalid_argument);
  }
  try {
    static_cast<void>(scaled(machine, -0.5));
    FAIL() << "no complaint";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "communication factor '-0.500000' is no scale; give a number above 0");
  }
}

}  // namespace
}  // namespace filch::platform::vm
