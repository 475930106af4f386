"""Tests of the command line program, run as a user runs it.

  command_line_test.py PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import command_line  # noqa: E402: found by the line above

PROGRAM = sys.argv.pop(1)

SMALL = ["fib:15", "nqueens:6", "uts:bin/b0=20/q=0.2/m=4/seed=1", "matmul:128", "cilksort:20000"]

MACHINE_KEYS = {
    "model": str,
    "packages": int,
    "numa_nodes": int,
    "cores": int,
    "usable_cpus": int,
    "quota_cpus": (int, float),
    "usable_workers": int,
    "filch_version": str,
    "compiler": str,
}
ROW_KEYS = {
    "workload": str,
    "size": str,
    "runner": str,
    "policy": (str, type(None)),
    "join": (str, type(None)),
    "loop": (str, type(None)),
    "workers": int,
    "settings": (dict, type(None)),
    "seconds_median": float,
    "seconds_min": float,
    "runs": int,
    "tasks": int,
    "ns_per_task": (float, type(None)),
    "ratio_to_serial": float,
    "ratio_low": float,
    "ratio_high": float,
    "result": str,
    "counters": (dict, type(None)),
}
SETTINGS = {
    "steal_half": bool,
    "push_half": bool,
    "delta_ns": (int, type(None)),
    "level_attempts": (int, type(None)),
    "spin_ns": int,
    "interrupt_after_ns": (int, type(None)),
    "interrupt_every_ns": (int, type(None)),
    "pinning": str,
}
COUNTERS = [
    "steals", "failed_steals", "leaps", "grows", "shrinks", "offers", "splits", "transactions", "synchronizations",
    "coalesced", "migrations", "parks", "interrupts", "transfer_attempts", "transfer_wait_ns", "bad_hints", "idle_ns",
    "wait_ns",
]  # fmt: skip


def run(*arguments, **environment):
    return command_line.run(PROGRAM, *arguments, **environment)


def bench(*arguments, **environment):
    """The parsed JSON of 'filch bench --json -'."""
    finished = run("bench", *arguments, "--json", "-", **environment)
    if finished.returncode != 0:
        raise AssertionError(f"exit status {finished.returncode}: {finished.stderr}")
    return json.loads(finished.stdout)


class Misuse(command_line.MisuseTest):
    def check(self, arguments, *expected, **environment):
        with self.subTest(arguments=arguments, **environment):
            self.check_misuse(run(*arguments, **environment), *expected)

    def test_commands(self):
        self.check([], "no command", "--help")
        self.check([""], "''")
        self.check(["benc"], "'benc'", "did you mean 'bench'?")
        self.check(["--frob"], "'--frob'", "filch --help")
        self.check(["list", "fib"], "'fib'", "filch list --help")
        self.check(["demo", "fib"], "'fib'", "filch demo --help")
        self.check(["topology", "--jsn"], "'--jsn'", "did you mean '--json'?")
        self.check(["list", "--json=no"], "--json")

    def test_options_of_bench(self):
        self.check(["bench", "--polcy", "lace"], "'--polcy'", "did you mean '--policy'?")
        self.check(["bench", "-x"], "'-x'", "filch bench --help")
        self.check(["bench", "fib:5", "--workers"], "--workers", "filch bench --help")
        self.check(["bench", "fib:5", "--workers", "1", "--workers", "2"], "--workers", "once")
        self.check(["bench", "fib:5", "--steal-half=2"], "--steal-half")
        self.check(["bench", "fib:5", "--push-half=2"], "--push-half")
        self.check(["bench", "fib:5", "--policy", "lace", "--push-half"], "push_half", "'lace'", "lazy_breadth")
        for bad in ["0", "-1", "x", "", "1.5", "9999999999"]:
            self.check(["bench", "fib:5", "--policy", "sender", "--delta", bad], "--delta", f"'{bad}'")
        self.check(["bench", "fib:5", "--policy", "lace,receiver", "--delta", "5"], "--delta '5'", "use policy sender")
        self.check(["bench", "fib:5", "--delta", "5"], "--delta '5'", "'standard'", "use policy sender")
        self.check(["bench", "fib:5", "--delta", "5"], "--delta '5'", "'lace'", FILCH_POLICY="lace")
        for option in ["--interrupt-after", "--interrupt-every"]:
            for bad in ["-1", "x", "", "1.5", "9999999999"]:
                self.check(["bench", "fib:5", "--policy", "sender", option, bad], option, f"'{bad}'")
            self.check(["bench", "fib:5", "--policy", "chase_lev", option, "5"], f"{option} '5'", "use policy")

        for bad in ["cores", "", "none,compact"]:
            self.check(["bench", "fib:5", "--pinning", bad], f"unknown pinning '{bad}'", "pinnings are none, compact, scatter")

    def test_workloads(self):
        self.check(["bench", "fob"], "'fob'", "did you mean 'fib'?", "filch list")
        self.check(["bench", ""], "''", "filch list")
        self.check(["bench", "fib:5", "queens:4"], "'queens'", "did you mean 'nqueens'?")

    def test_sizes(self):
        for workload in ["fib", "nqueens", "uts", "matmul", "cilksort"]:
            for size in ["", "-1", "x", "5x", " 5", "99999999999999999999"]:
                self.check(["bench", f"{workload}:{size}"], f"'{size}'")
        for workload in ["matching", "mis", "dfs", "dfs_tasks", "dfs_coalesced", "dfs_counted"]:
            for size in ["", "5", "rmat", "rmat/", "rmat/0", "rmat/-1", "rmat/5x", "rmat/99999999999999999999", "tree/5"]:
                self.check(["bench", f"{workload}:{size}"], f"'{size}'", f"try {workload}:rlg/")
            self.check(["bench", f"{workload}:grid3d/1001"], "'1001'", "the nearest is 1000")
            self.check(["bench", f"{workload}:file/no/such.adj"], "'file/no/such.adj'", "does not exist")
        self.check(["bench", "bfs:file/no/such.adj"], "'file/no/such.adj'", "does not exist")
        self.check(["bench", "dfs:file//dev/zero"], "'file//dev/zero'", "not a regular file")
        with tempfile.NamedTemporaryFile("w", suffix=".edges") as file:
            self.check(["bench", f"dfs:file/{file.name}"], file.name, "is empty")
            file.write("0 4294967294\n")
            file.flush()
            self.check(["bench", f"dfs:file/{file.name}"], "'4294967294'", "not below 50000000")
        for size in ["", "5", "uniform/", "uniform/0", "plummer/5x", "square/5"]:
            self.check(["bench", f"hull:{size}"], f"'{size}'", "try hull:uniform/")
        for workload in ["samplesort", "cilksort"]:
            for size in ["normal/5", "exponential/", "exponential/0", "random/5x"]:
                self.check(["bench", f"{workload}:{size}"], f"'{size}'", f"try {workload}:")

    def test_control_characters(self):
        for text in ["fib:\x1b[2J\x07\x7f", "\x1b[2J\x07\x7f", "dfs:file/\x1b[2J\x07\x7f"]:
            self.check(["bench", text], "?[2J??'")
        self.check(["bench", "fib:5\n6\r7"], "'5 6 7'")
        with tempfile.TemporaryDirectory(prefix="\x1b[2J\n") as folder:
            path = Path(folder) / "g"
            path.write_bytes(b"0 1\n\x00\x1b[3J 5\n")
            self.check(["bench", f"dfs:file/{path}"], "has '??[3J', which is not a vertex; try dfs:rlg/")
            path.write_text("0 1\n")
            finished = run("bench", f"dfs:file/{path}", "--repeat", "1")
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertIn("?[2J ", finished.stdout)
            self.assertNotIn("\x1b", finished.stdout)

    def test_names_that_are_not_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / os.fsdecode(b"\xff.txt")
            path.write_text("0 1\n")
            (row,) = bench(f"dfs:file/{path}", "--repeat", "1")["rows"]
            self.assertEqual(row["size"], f"file/{folder}/\ufffd.txt")

    def test_workers(self):
        for count in ["0", "-1", "1025", "two", "1.5", "99999999999999999999", ""]:
            self.check(["bench", "fib:5", "--workers", count], "--workers", f"'{count}'")

    def test_lists(self):
        for option in ["--workers", "--policy", "--join", "--loop", "--peer"]:
            for text in ["", ",", "1,", ",1", "1,,2"]:
                self.check(["bench", "fib:5", option, text], option, f"'{text}'")
        self.check(["bench", "fib:5", "--workers", "2,2"], "'2'", "once")

    def test_names(self):
        self.check(["bench", "fib:5", "--policy", "lacy"], "'lacy'", "did you mean 'lace'?")
        self.check(["bench", "fib:5", "--policy", "a\nb"], "policies are")
        self.check(["bench", "fib:5", "--join", "leepfrog"], "'leepfrog'", "did you mean 'leapfrog'?")
        self.check(["bench", "fib:5", "--loop", "lazy"], "'lazy'", "loops are standard, lazy_breadth")
        self.check(["bench", "fib:5", "--loop", "lazy_bredth"], "'lazy_bredth'", "did you mean 'lazy_breadth'?")
        self.check(["bench", "fib:5", "--loop", "automatc"], "'automatc'", "did you mean 'automatic'?", "loops are standard")
        self.check(["bench", "fib:5", "--loop", "auto,automatic"], "'automatic'", "twice")
        peers = "serial, tbb, tbb-simple, tbb-static, tbb-affinity, openmp, openmp-static, openmp-dynamic"
        self.check(["bench", "fib:5", "--peer", "cilk"], "'cilk'", peers)

    def test_combinations(self):
        policies = json.loads(run("list", "--json").stdout)["policies"]
        joins = {join for policy in policies for join in policy["joins"]}
        for policy in policies:
            for join in joins - set(policy["joins"]):
                self.check(["bench", "fib:5", "--policy", policy["name"], "--join", join], policy["name"], join)

    def test_combinations_with_loops(self):
        listed = json.loads(run("list", "--json").stdout)
        for policy in listed["policies"]:
            for loop in {each["name"] for each in listed["loops"]} - set(policy["loops"]):
                arguments = ["--policy", policy["name"], "--loop", loop]
                self.check(["bench", "fib:5", *arguments], f"'{policy['name']}'", f"'{loop}'", *policy["loops"])
        # One that goes with some of the policies only is refused as well: nothing that was asked for is left out.
        self.check(["bench", "fib:5", "--policy", "lace,chase_lev", "--loop", "auto,standard"], "'chase_lev'", "'standard'")
        # Where the policy is left open, the library refuses it.
        self.check(["bench", "fib:5", "--loop", "standard"], "'standard'", "lazy_depth", FILCH_POLICY="lazy_depth")

    def test_repeat(self):
        for count in ["0", "-3", "many", "1.5", ""]:
            self.check(["bench", "fib:5", "--repeat", count], "--repeat", f"'{count}'")

    def test_json_file(self):
        with tempfile.TemporaryDirectory() as folder:
            # A long measurement must not end in this: the size would run for hours.
            self.check(["bench", "fib:60", "--json", folder], folder, "directory")
            self.check(["bench", "fib:60", "--json", f"{folder}/missing/x.json"], "missing/x.json", "folder")
        self.check(["bench", "fib:60", "--json", ""], "empty")

    def test_numbers_of_policies(self):
        self.check(["bench", "fib:5", "--spin", "-1"], "--spin", "'-1'")
        self.check(["bench", "fib:5", "--policy", "lace", "--level-attempts", "3"], "hierarchical")
        self.check(["bench", "fib:5", "--policy", "hierarchical", "--level-attempts", "0"], "'0'")

    def test_places(self):
        self.check(["bench", "uts_places:T1", "--places-policy", "lifline"], "'lifline'", "did you mean 'lifeline'?")
        self.check(["bench", "uts_places:T1", "--places-policy", "baseline,"], "--places-policy", "'baseline,'")
        self.check(["bench", "uts_places:T1", "--places-communication", "none"], "'none'", "shared, dedicated")
        for bad in ["0", "6", "-1", "x", "", "1.5", "99999999999999999999"]:
            self.check(["bench", "uts_places:T1", "--places-shipment", bad], "--places-shipment", f"'{bad}'")
        # Nothing that was asked for is left out.
        self.check(["bench", "fib:5", "--places-policy", "baseline"], "--places-policy 'baseline'", "such as uts_places:T1")
        self.check(["bench", "uts_places:T1", "--peer", "tbb"], "--peer 'tbb'", "'uts_places'")
        for bad in ["uts_places:T9", "nqueens_places:19", "stencil_places:100", "stencil_places:64/5"]:
            self.check(["bench", bad], f"'{bad.split(':')[1]}'", f"try {bad.split(':')[0]}:")
        self.check(["bench", "uts_places:T1"], "FILCH_PLACES_POLICY", "'none'", FILCH_PLACES_POLICY="none")
        self.check(["bench", "uts_places:T1"], "FILCH_PLACES_COMMUNICATION", "'x'", FILCH_PLACES_COMMUNICATION="x")
        self.check(["bench", "uts_places:T1"], "FILCH_PLACES_SHIPMENT", "'9'", FILCH_PLACES_SHIPMENT="9")

    def test_one_of_several_processes_speaks(self):
        finished = run("bench", "uts_places:T9", OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1")
        self.assertEqual((finished.returncode, finished.stdout, finished.stderr), (2, "", ""))

    def test_environment(self):
        self.check(["bench", "fib:5"], "'lacy'", FILCH_POLICY="lacy")
        self.check(["bench", "fib:5"], "'leepfrog'", FILCH_JOIN="leepfrog")
        self.check(["bench", "fib:5"], "'-1'", FILCH_WORKERS="-1")
        self.check(["bench", "fib:5"], "'lazzy'", FILCH_LOOP="lazzy")
        self.check(["bench", "fib:5"], "FILCH_PINNING 'scater'", "use one of", FILCH_PINNING="scater")
        # Also where the policy has no use for the time, and where another one would have.
        for name in ["FILCH_DEAL_INTERVAL_NS", "FILCH_INTERRUPT_AFTER_NS", "FILCH_INTERRUPT_EVERY_NS"]:
            for bad in ["abc", "-1", "5x", "1.5", " 5", "1000000001", "99999999999999999999"]:
                for policy in ["standard", "sender", "chase_lev", "lazy_depth"]:
                    self.check(["bench", "fib:5", "--policy", policy], name, f"'{bad}'", "nanoseconds", **{name: bad})


class Bench(unittest.TestCase):
    def check_types(self, values, types):
        self.assertEqual(list(values), list(types))
        for key, expected in types.items():
            self.assertIsInstance(values[key], expected, key)

    def test_json_has_the_documented_form(self):
        report = bench(*SMALL, "--peer", "serial,tbb,openmp,openmp-static", "--workers", "2", "--repeat", "3")
        self.assertEqual(list(report), ["machine", "rows"])
        self.check_types(report["machine"], MACHINE_KEYS)
        for row in report["rows"]:
            self.check_types(row, ROW_KEYS)
            self.assertGreaterEqual(row["runs"], 3)
            self.assertLessEqual(row["seconds_min"], row["seconds_median"])
            self.assertLessEqual(row["ratio_low"], row["ratio_to_serial"])
            self.assertLessEqual(row["ratio_to_serial"], row["ratio_high"])
            self.assertAlmostEqual(row["ns_per_task"], row["seconds_median"] * 1e9 / row["tasks"])
            is_filch = row["runner"] == "filch"
            for key in ["policy", "join", "loop", "settings", "counters"]:
                self.assertEqual(row[key] is not None, is_filch, key)
            if is_filch:
                self.check_types(row["settings"], SETTINGS)
                self.check_types(row["counters"], {name: (int, float) for name in COUNTERS})
        for workload in SMALL:
            rows = [row for row in report["rows"] if f"{row['workload']}:{row['size']}" == workload]
            self.assertEqual([row["runner"] for row in rows], ["serial", "filch", "tbb", "openmp", "openmp-static"])
            self.assertEqual(len({row["result"] for row in rows}), 1)
            self.assertEqual([row["workers"] for row in rows], [1, 2, 2, 2, 2])

    def test_every_combination_is_run(self):
        policies = [policy for policy in json.loads(run("list", "--json").stdout)["policies"]]
        for policy in policies:
            joins = policy["joins"]
            rows = bench("fib:12", "--policy", policy["name"], "--join", ",".join(joins), "--workers", "1,2")["rows"]
            self.assertEqual(
                [(row["policy"], row["join"], row["workers"]) for row in rows],
                [(policy["name"], join, workers) for join in joins for workers in [1, 2]],
            )

    def test_every_loop_is_run(self):
        for policy in json.loads(run("list", "--json").stdout)["policies"]:
            loops = policy["loops"]
            arguments = ["--policy", policy["name"], "--loop", ",".join(loops), "--workers", "2", "--repeat", "1"]
            rows = bench("nqueens_loop:6", "fib:12", *arguments)["rows"]
            self.assertEqual([row["loop"] for row in rows], [*loops, *loops])

    def test_what_is_left_out_gets_its_default(self):
        (row,) = bench("fib:12")["rows"]
        policies = json.loads(run("list", "--json").stdout)["policies"]
        (standard,) = [policy for policy in policies if policy["name"] == "standard"]
        self.assertEqual(row["policy"], "standard")
        self.assertEqual(row["join"], standard["default_join"])
        self.assertEqual(row["loop"], standard["default_loop"])
        self.assertEqual(row["workers"], json.loads(run("topology", "--json").stdout)["usable_workers"])
        self.assertGreaterEqual(row["runs"], 5)

    def test_workloads_of_places(self):
        tree = "bin/b0=200/q=0.2/m=4/seed=1"
        arguments = ["--places-policy", "baseline,lifeline", "--places-communication", "shared,dedicated"]
        arguments += ["--places-shipment", "4", "--workers", "1,2", "--repeat", "2"]
        rows = bench(f"uts_places:{tree}", "nqueens_places:8", "stencil_places:64/iterations=3", "fib:10", *arguments)["rows"]
        of_places = {**ROW_KEYS, "ratio_to_serial": type(None), "ratio_low": type(None), "ratio_high": type(None)}
        of_places |= {"places": int, "places_policy": str, "places_communication": str, "places_shipment": int, "places_cyclic_steals": bool}
        *here, fib = [rows[i : i + 8] for i in range(0, len(rows), 8)]
        self.assertEqual([(row["workload"], row["workers"]) for row in fib], [("fib", 1), ("fib", 2)])
        self.assertEqual([row["result"] for row in here[1]], ["92"] * 8)
        (serial,) = bench(f"uts:{tree}", "--repeat", "1", "--workers", "1")["rows"]
        self.assertEqual([row["result"] for row in here[0]], [serial["result"]] * 8)
        self.assertEqual([row["workload"] for row in here[2]], ["stencil_places"] * 8)
        for rows in here:
            ways = [(row["places_policy"], row["places_communication"], row["workers"]) for row in rows]
            expected = [(p, c, w) for p in ["baseline", "lifeline"] for c in ["shared", "dedicated"] for w in [1, 2]]
            self.assertEqual(ways, expected)
            for row in rows:
                self.check_types(row, of_places)
                self.assertEqual((row["places"], row["places_shipment"], row["runs"]), (1, 4, 2))
                # There is nobody to steal from.
                self.assertEqual((row["counters"]["steals"], row["counters"]["victims"]), (0, [0] * 5))

    def test_environment_of_places(self):
        def of(*arguments, **environment):
            (row,) = bench("nqueens_places:6", "--repeat", "1", "--workers", "1", *arguments, **environment)["rows"]
            return [row[f"places_{name}"] for name in ["policy", "communication", "shipment"]]

        environment = {
            "FILCH_PLACES_POLICY": "lifeline",
            "FILCH_PLACES_COMMUNICATION": "dedicated",
            "FILCH_PLACES_SHIPMENT": "3",
        }
        self.assertEqual(of(), ["success_only", "shared", 1])
        self.assertEqual(of(**environment), ["lifeline", "dedicated", 3])
        self.assertEqual(of("--places-policy", "baseline", **environment), ["baseline", "dedicated", 3])

    def test_the_environment_fills_in(self):
        rows = bench("fib:12", "--peer", "tbb", FILCH_WORKERS="3", FILCH_POLICY="lace")["rows"]
        self.assertEqual([(row["runner"], row["workers"]) for row in rows], [("filch", 3), ("tbb", 3)])
        self.assertEqual(rows[0]["policy"], "lace")
        (row,) = bench("fib:12", "--repeat", "1", FILCH_LOOP="dynamic")["rows"]
        self.assertEqual(row["loop"], "dynamic")
        (row,) = bench("fib:12", "--repeat", "1", "--loop", "fixed")["rows"]
        self.assertEqual(row["loop"], "static")

    def test_help_names_every_variable(self):
        text = run("bench", "--help").stdout
        for name in [
            "WORKERS", "POLICY", "JOIN", "LOOP", "DEAL_INTERVAL_NS", "INTERRUPT_AFTER_NS", "INTERRUPT_EVERY_NS",
            "PLACES_POLICY", "PLACES_COMMUNICATION", "PLACES_SHIPMENT",
        ]:  # fmt: skip
            self.assertIn(f"FILCH_{name}", text)

    def test_loops_default_to_those_of_the_policy(self):
        policies = json.loads(run("list", "--json").stdout)["policies"]
        rows = bench("fib:12", "--policy", ",".join(each["name"] for each in policies), "--repeat", "1")["rows"]
        self.assertEqual([row["loop"] for row in rows], [each["default_loop"] for each in policies])

    def test_halves(self):
        for arguments in [
            ["--policy", "lace", "--steal-half"],
            ["--policy", "receiver", "--steal-half"],
            ["--policy", "sender", "--steal-half", "--delta", "1000"],
            ["--policy", "lazy_depth", "--push-half"],
        ]:
            (row,) = bench("fib:15", "--repeat", "1", *arguments)["rows"]
            self.assertEqual((row["policy"], row["result"]), (arguments[1], "610"))

    def test_rows_have_the_settings_that_they_ran_with(self):
        def settings(*arguments, **environment):
            names = ["steal_half", "push_half", "delta_ns", "interrupt_after_ns", "interrupt_every_ns"]
            made = bench("fib:12", "--repeat", "1", *arguments, **environment)["rows"]
            return [[row["settings"][name] for name in names] for row in made]

        self.assertEqual(settings(), [[False, False, None, 0, None]])
        self.assertEqual(settings("--policy", "lazy_depth", "--push-half"), [[False, True, None, None, None]])
        times = ["--delta", "1000", "--interrupt-after", "0", "--interrupt-every", "5000"]
        self.assertEqual(
            settings("--policy", "sender,lace,chase_lev", *times),
            [[False, False, 1000, 0, 5000], [False, False, None, 0, None], [False, False, None, None, None]],
        )
        environment = {
            "FILCH_DEAL_INTERVAL_NS": "2000",
            "FILCH_INTERRUPT_AFTER_NS": "3000",
            "FILCH_INTERRUPT_EVERY_NS": "4000",
        }
        self.assertEqual(
            settings("--policy", "sender,lace,chase_lev", **environment),
            [[False, False, 2000, 3000, 4000], [False, False, None, 3000, None], [False, False, None, None, None]],
        )
        self.assertEqual(
            settings("--steal-half", "--delta", "7", FILCH_POLICY="sender", **environment), [[True, False, 7, 3000, 4000]]
        )

    def test_workers_spin_and_look_as_they_were_told(self):
        def of(name, *arguments, **environment):
            return bench("fib:12", "--repeat", "1", *arguments, **environment)["rows"][0]["settings"][name]

        self.assertEqual(of("spin_ns"), 50000)
        self.assertEqual(of("spin_ns", "--spin", "7"), 7)
        self.assertEqual(of("spin_ns", FILCH_SPIN_NS="8"), 8)
        self.assertEqual(of("level_attempts", "--policy", "hierarchical"), 8)
        self.assertEqual(of("level_attempts", "--policy", "hierarchical", "--level-attempts", "3"), 3)
        self.assertEqual(of("level_attempts", FILCH_POLICY="hierarchical", FILCH_LEVEL_ATTEMPTS="4"), 4)

    def test_workers_are_pinned(self):
        def pinning(*arguments, **environment):
            return bench("fib:12", "--repeat", "1", *arguments, **environment)["rows"][0]["settings"]["pinning"]

        self.assertEqual(pinning(), "none")
        self.assertEqual(pinning("--pinning", "scatter", "--workers", "5"), "scatter")
        self.assertEqual(pinning(FILCH_PINNING="compact"), "compact")
        self.assertEqual(pinning("--pinning", "none", FILCH_PINNING="compact"), "none")

    def test_no_tasks_take_no_time_each(self):
        (row,) = bench("fib:1")["rows"]
        self.assertEqual((row["tasks"], row["ns_per_task"]), (0, None))

    def test_json_file_and_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fib.json"
            finished = run("bench", "fib:12", "--json", str(path))
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertEqual(json.loads(path.read_text())["rows"][0]["workload"], "fib")
            self.assertEqual([each.name for each in Path(folder).iterdir()], ["fib.json"])
        for text in ["fib:12", "filch", "standard", "to serial"]:
            self.assertIn(text, finished.stdout)

    def test_json_on_stdout_moves_the_table(self):
        finished = run("bench", "fib:12", "--json", "-")
        self.assertEqual(json.loads(finished.stdout)["rows"][0]["size"], "12")
        self.assertIn("fib:12", finished.stderr)

    def test_full_device_is_a_failure(self):
        for arguments in (["bench", "fib:12"], ["list"], ["--help"], ["bench", "--help"], ["--version"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                finished = subprocess.run(
                    [PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
                )
            self.assertEqual(finished.returncode, 1, arguments)
            self.assertEqual(finished.stderr, "filch: cannot write to standard output\n")

    def test_a_missing_temporary_folder_is_named(self):
        finished = run("profile", "fib:12", TMPDIR="/nonexistent")
        self.assertEqual((finished.returncode, len(finished.stderr.splitlines())), (1, 1))
        self.assertIn("'/nonexistent'", finished.stderr)

    def test_results_that_cannot_be_written_are_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            finished = run("bench", "fib:12", "--json", "/dev/full", TMPDIR=folder)
            self.assertEqual(finished.returncode, 1)
            self.assertIn("fib:12", finished.stdout)
            self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
            [saved] = Path(folder).iterdir()
            self.assertIn(f"saved in '{saved}'", finished.stderr)
            self.assertEqual(json.loads(saved.read_text())["rows"][0]["size"], "12")

    def test_a_table_that_cannot_be_written_leaves_the_json(self):
        for command in ["bench", "simulate --machine 1x2 --seeds 1"]:
            with self.subTest(command=command), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.json"
                many = f"fib:1 fib:2 fib:3 --policy standard,lace,chase_lev --workers 1,2 --json {path}"
                finished = command_line.run("sh", "-c", f'stdbuf -o0 "$0" {command} {many} >/dev/full', PROGRAM)
                self.assertEqual(finished.returncode, 1)
                self.assertIn("fib", path.read_text())

    def test_errors_that_cannot_be_told_keep_their_exit_status(self):
        for closing in ["2>&-", "2>/dev/full"]:
            for arguments, status in [("bench nope", 2), ("bench fib:12 >/dev/full", 1)]:
                with self.subTest(closing=closing, arguments=arguments):
                    finished = command_line.run("sh", "-c", f'"$0" {arguments} {closing}', PROGRAM)
                    self.assertEqual(finished.returncode, status)


class Information(unittest.TestCase):
    def test_list(self):
        listed = json.loads(run("list", "--json").stdout)
        text = run("list").stdout
        self.assertTrue({"fib", "nqueens", "uts", "matmul", "cilksort"} <= {each["name"] for each in listed["workloads"]})
        self.assertTrue({"standard", "lace", "chase_lev"} <= {each["name"] for each in listed["policies"]})
        self.assertTrue({"standard", "auto", "lazy_breadth", "static"} <= {each["name"] for each in listed["loops"]})
        for each in listed["loops"]:
            self.assertIn(each["name"], text)
            self.assertNotEqual(each["summary"], "")
            with_it = [policy["name"] for policy in listed["policies"] if each["name"] in policy["loops"]]
            self.assertEqual(each["policies"], with_it)
            self.assertIn(" ".join(with_it), text)
        for each in listed["workloads"]:
            self.assertIn(each["name"], text)
            self.assertIn(each["default_size"], text)
            self.assertNotEqual(each["summary"], "")
        for form in ["file/PATH", "AdjacencyGraph", "EdgeArray"]:
            self.assertIn(form, text)
        for each in listed["policies"]:
            self.assertIn(each["default_join"], each["joins"])
            self.assertIn(each["default_loop"], each["loops"])
            self.assertIn(each["name"], text)

    def test_topology(self):
        machine = json.loads(run("topology", "--json").stdout)
        self.assertEqual(machine["usable_cpus"], len(os.sched_getaffinity(0)))
        self.assertEqual({each["cpu"] for each in machine["cpus"]}, os.sched_getaffinity(0))
        self.assertIn(machine["source"], ["hwloc", "sysfs"])
        text = run("topology").stdout
        for each in machine["cpus"]:
            self.assertRegex(text, rf"core {each['core']}: cpu .*\b{each['cpu']}\b")
        self.assertIn(machine["model"], text)

    def test_help_and_version(self):
        self.assertRegex(run("--version").stdout, r"^\d+\.\d+\.\d+\n$")
        self.assertIn("bench", run("--help").stdout)
        for command in ["bench", "demo", "list", "topology"]:
            finished = run(command, "--help")
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertIn(f"filch {command}", finished.stdout)
            self.assertIn("Example", finished.stdout)


if __name__ == "__main__":
    unittest.main()
