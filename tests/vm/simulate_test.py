"""Tests of 'filch simulate', run as a user runs it.

  simulate_test.py PROGRAM MACHINES
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import command_line  # noqa: E402: found by the line above

MACHINES = Path(sys.argv.pop(2))
PROGRAM = Path(sys.argv.pop(1))

# What rows of 'filch bench' have, and what is added to it.
ROW_KEYS = [
    "workload", "size", "runner", "policy", "join", "loop", "workers", "settings", "seconds_median", "seconds_min", "runs",
    "tasks", "ns_per_task", "ratio_to_serial", "ratio_low", "ratio_high", "result", "counters", "virtual_seconds", "machine",
    "numa", "communication_factor",
]  # fmt: skip
SMALL_TREE = "uts:bin/b0=200/q=0.19/m=5/seed=1"


def run(*arguments, program=PROGRAM, **environment):
    return command_line.run(program, *arguments, **environment)


def simulated_text(*arguments, **environment):
    finished = run("simulate", *arguments, "--json", "-", **environment)
    if finished.returncode != 0:
        raise AssertionError(f"exit status {finished.returncode}: {finished.stderr}")
    return finished.stdout


def rows(*arguments):
    return json.loads(simulated_text(*arguments))["rows"]


class Ends(unittest.TestCase):
    def test_its_processes_end_with_it(self):
        """A signal for the one process alone."""

        def is_running(process):
            try:
                return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
            except FileNotFoundError:
                return False

        long = ["simulate", "nqueens:13", "--machine", "8x32", "--workers", "64,128", "--seeds", "30", "--processes", "2"]
        with subprocess.Popen([PROGRAM, *long], stdout=subprocess.DEVNULL) as program:
            children = []
            while len(children) < 2:
                self.assertIsNone(program.poll())
                children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
                time.sleep(0.01)
            program.terminate()
            program.wait()
        given_up = time.monotonic() + 60
        while any(map(is_running, children)) and time.monotonic() < given_up:
            time.sleep(0.01)
        self.assertEqual([each for each in children if is_running(each)], [])


class Misuse(command_line.MisuseTest):
    def check(self, arguments, *expected):
        with self.subTest(arguments=arguments):
            self.check_misuse(run(*arguments), *expected)

    def simulate(self, arguments, *expected):
        self.check(["simulate", "fib:5", *arguments], *expected)

    def test_machines(self):
        self.simulate([], "--machine", "4x12")
        self.simulate(["--machine", "opteron"], "'opteron'", "opteron-6168")
        self.simulate(["--machine", "0x4"], "0x4")
        self.simulate(["--machine", "missing/x.json"], "missing/x.json")
        self.simulate(["--machine", ""], "''")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bad.json"
            for text in ["", "{", "[]", "{}", '{"calibrated": true, "shape": 7}']:
                path.write_text(text, encoding="ascii")
                self.simulate(["--machine", path], str(path))
            machine = json.loads((MACHINES / "generic.json").read_text())
            machine["lines"]["hit_ns"] = -1
            path.write_text(json.dumps(machine), encoding="ascii")
            self.simulate(["--machine", path], "hit_ns", "-1")
            machine["lines"]["hit_ns"] = 1
            del machine["work"]["fib_call_ns"], machine["work"]["tsp_step_ns"]
            path.write_text(json.dumps(machine), encoding="ascii")
            self.simulate(["--machine", path], "'bad'", "no price fib_call_ns, tsp_step_ns; add", '"work"')

    def test_workers(self):
        for count in ["0", "-1", "two", "1.5", ""]:
            self.simulate(["--machine", "4x12", "--workers", count], "--workers", f"'{count}'")
        self.simulate(["--machine", "4x12", "--workers", "1,49"], "'49'", "4x12", "48")

    def test_a_ticker_has_no_hardware_thread(self):
        ticking = ["--policy", "lace,sender", "--interrupt-every", "5000"]
        for workers in [[], ["--workers", "4"], ["--workers", "1,4"]]:
            self.simulate(["--machine", "1x4", *ticking, *workers], "'5000'", "1x4", "4 workers", "such as 1x5")

    def test_other_options(self):
        on = ["--machine", "2x2"]
        for option in ["--seed", "--seeds", "--processes"]:
            self.simulate([*on, option, "x"], option, "'x'")
        self.simulate([*on, "--seeds", "0"], "--seeds")
        self.simulate([*on, "--policy", "lacy"], "'lacy'", "did you mean 'lace'?")
        self.simulate([*on, "--join", "leepfrog"], "'leepfrog'", "did you mean 'leapfrog'?")
        self.simulate([*on, "--policy", "chase_lev", "--steal-half"], "steal_half")
        self.simulate([*on, "--policy", "lace", "--push-half"], "push_half")
        self.simulate([*on, "--policy", "sender", "--delta", "0"], "--delta '0'")
        self.simulate([*on, "--loop", "lazy_bredth"], "'lazy_bredth'", "did you mean 'lazy_breadth'?")
        self.simulate([*on, "--policy", "lazy_depth", "--loop", "auto"], "'lazy_depth'", "'auto'", "its loops are")
        self.simulate([*on, "--machin", "2x2"], "'--machin'", "did you mean '--machine'?")
        self.simulate([*on, "--pinning", "scater"], "'scater'", "did you mean 'scatter'?", "none, compact")
        for bad in ["firsttouch", "", "local"]:
            self.simulate([*on, "--numa", bad], f"unknown --numa '{bad}'", "first_touch or interleave")
        self.simulate([*on, "--sensitivity=2"], "--sensitivity")
        self.simulate([*on, "--bound=2"], "--bound")
        self.simulate([*on, "--json", "missing/x.json"], "missing/x.json")

    def test_workloads(self):
        self.check(["simulate", "--machine", "2x2"], "no workload")
        self.check(["simulate", "fob", "--machine", "2x2"], "'fob'", "did you mean 'fib'?")
        self.check(["simulate", "fib:x", "--machine", "2x2"], "'x'")

    def test_maps(self):
        on = ["--machine", "2x2", "--seeds", "1", "--map"]
        self.check(["simulate", "fib:5", *on, "x"], "--map", "'fib:5'", "no plane", "sph:2d/35888")
        self.check(["simulate", "sph:3d/100", *on, "x"], "'sph:3d/100'")
        self.check(["simulate", "sph:2d/100", "sph:2d/200", *on, "x"], "--map", "2 are given")
        for name in ["x.gif", "", "missing/"]:
            self.check(["simulate", "sph:2d/100", *on, name], f"'{name}'", ".svg")
        self.check(["simulate", "sph:2d/100", *on, "missing/x"], "missing/x")

    def test_control_characters(self):
        self.check(["simulate", "fib:\x1b[2J\x07\x7f", "--machine", "2x2"], "'?[2J??'")
        self.check(["simulate", "fib:5", "--machine", "\x1b[2J\n"], "'?[2J?'")

    def test_other_commands(self):
        self.check(["calibrate"], "--out")
        self.check(["calibrate", "--out", "missing/x.json"], "missing/x.json")
        self.check(["validate", "--machine", "nowhere"], "'nowhere'")
        self.check(["validate", "--machine", "1x1"], "one core")

    def test_the_other_program_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(PROGRAM, folder)
            finished = run("simulate", "fib:5", "--machine", "2x2", program=alone)
            self.assertEqual((finished.returncode, finished.stdout), (1, ""))
            self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
            self.assertIn("filch-vm", finished.stderr)


class Simulate(unittest.TestCase):
    MANY = [
        "fib:14", "nqueens:6", SMALL_TREE, "matmul:64", "cilksort:20000", "--machine", "2x4", "--workers", "1,8", "--policy",
        "lace,chase_lev", "--join", "leapfrog,transitive,random", "--seeds", "3",
    ]  # fmt: skip

    def test_json_has_the_form_of_bench(self):
        report = json.loads(simulated_text(*self.MANY, "--sensitivity"))
        self.assertEqual(list(report), ["machine", "rows"])
        self.assertEqual(report["machine"]["cores"], 8)
        self.assertEqual(len(report["rows"]), 5 * 3 * (1 + 2 * 2 * 3))
        for row in report["rows"]:
            self.assertEqual(list(row), ROW_KEYS)
            self.assertEqual(row["machine"], "2x4")
            self.assertEqual(row["virtual_seconds"], row["seconds_median"])
            self.assertLessEqual(row["ratio_low"], row["ratio_to_serial"])
            self.assertLessEqual(row["ratio_to_serial"], row["ratio_high"])
            is_filch = row["runner"] == "filch"
            self.assertEqual(is_filch, row["counters"] is not None)
            self.assertEqual(row["runs"], 3 if is_filch and row["workers"] > 1 else 1)
        self.assertEqual([row["communication_factor"] for row in report["rows"][:39:13]], [1.0, 0.7, 1.3])

    def test_bound(self):
        on = ["fib:20/5", "--machine", "2x4", "--policy", "lace,receiver,sender", "--workers", "1,8", "--seeds", "5"]
        found = rows(*on, "--bound")
        bound_keys = ["t1", "t_inf", "branching_depth", "delta", "bound"]
        self.assertTrue(all(list(row) == ROW_KEYS + bound_keys for row in found))
        self.assertEqual({row["branching_depth"] for row in found}, {16})
        (t1,) = {row["t1"] for row in found}
        (t_inf,) = {row["t_inf"] for row in found}
        self.assertGreater(t1, 50 * t_inf)
        for row in found:
            bounded = row["policy"] in ("receiver", "sender") and row["workers"] == 8
            self.assertEqual(bounded, row["delta"] is not None, row)
            self.assertEqual(bounded, row["bound"] is not None, row)
            if bounded:
                self.assertGreater(row["bound"], row["t1"] / 8 + row["t_inf"] * 7 / 8)
            elif row["runner"] == "filch" and row["workers"] == 1:
                self.assertAlmostEqual(row["virtual_seconds"], t1, delta=0.02 * t1)
        table = run("simulate", *on, "--bound").stdout
        for title in ["T1", "T_inf", "F", "delta", "bound"]:
            self.assertIn(title, table.splitlines()[2].split())
        # Nothing else changes.
        self.assertEqual([{key: row[key] for key in ROW_KEYS} for row in found], rows(*on))

    def test_same_seed_same_bytes(self):
        first = simulated_text(*self.MANY, "--processes", "2")
        self.assertEqual(first, simulated_text(*self.MANY, "--processes", "1"))
        self.assertNotEqual(first, simulated_text(*self.MANY, "--seed", "2"))

    def test_the_environment_does_not_matter(self):
        on = ["fib:14", "nqueens_loop:5", "--machine", "1x5", "--workers", "4", "--seeds", "3"]
        settings = {
            "FILCH_WORKERS": "x",
            "FILCH_POLICY": "lace",
            "FILCH_JOIN": "random",
            "FILCH_LOOP": "simple",
            "FILCH_INTERRUPT_AFTER_NS": "1",
            "FILCH_PINNING": "scatter",
        }
        expected = simulated_text(*on)
        for name, value in settings.items():
            with self.subTest(name=name):
                self.assertEqual(simulated_text(*on, **{name: value}), expected)
        self.assertEqual(simulated_text(*on, **settings), expected)
        sender = [*on, "--policy", "sender"]
        times = {"FILCH_DEAL_INTERVAL_NS": "1", "FILCH_INTERRUPT_EVERY_NS": "1000"}
        self.assertEqual(simulated_text(*sender, **times), simulated_text(*sender))
        # That they would make a difference is seen by the options that they stand for.
        self.assertNotEqual(simulated_text(*on, "--join", "random"), expected)
        self.assertNotEqual(simulated_text(*sender, "--delta", "1"), simulated_text(*sender))

    def test_places_in_memory_do_not_matter(self):
        # They differ from process to process, and did once decide which line the entries of a ring begin in.
        arguments = ["matmul:64", "cilksort:20000", "--machine", "2x4", "--policy", "chase_lev", "--seeds", "2"]
        self.assertEqual(len({simulated_text(*arguments) for _ in range(12)}), 1)

    def test_a_run_depends_on_its_seed_alone(self):
        arguments = ["nqueens:7", "--machine", "2x4", "--workers", "8"]
        of_one = [rows(*arguments, "--seeds", "1", "--seed", seed)[1]["virtual_seconds"] for seed in (1, 2, 3)]
        self.assertEqual(sorted(of_one)[1], rows(*arguments, "--seeds", "3")[1]["virtual_seconds"])

    def test_what_is_left_out_gets_its_default(self):
        serial, row = rows("fib:12", "--machine", "2x3", "--seeds", "1")
        self.assertEqual((serial["runner"], serial["ratio_to_serial"]), ("serial", 1))
        self.assertEqual((row["policy"], row["join"], row["workers"]), ("standard", "transitive", 6))
        self.assertEqual((serial["loop"], row["loop"]), (None, "standard"))

    def test_rows_have_the_settings_that_they_ran_with(self):
        on = ["fib:12", "--machine", "1x5", "--workers", "4", "--seeds", "1"]
        times = ["--delta", "1000", "--interrupt-after", "0", "--interrupt-every", "5000"]
        serial, row = rows(*on, "--policy", "sender", "--steal-half", *times)
        self.assertIsNone(serial["settings"])
        names = ["steal_half", "push_half", "delta_ns", "level_attempts", "spin_ns", "interrupt_after_ns", "interrupt_every_ns", "pinning"]
        self.assertEqual(row["settings"], dict(zip(names, [True, False, 1000, None, 50000, 0, 5000, "none"], strict=True)))
        expected = [False, False, None, None, 50000, 0, None, "compact"]
        self.assertEqual(rows(*on, "--pinning", "compact")[1]["settings"], dict(zip(names, expected, strict=True)))
        for attempts, more in [(8, []), (3, ["--level-attempts", "3"])]:
            row = rows(*on, "--policy", "hierarchical", *more)[1]
            self.assertEqual(row["settings"]["level_attempts"], attempts)

    def test_pinning_places_workers(self):
        # Two workers of one socket share nothing with each other but that; of two sockets, steals are farther.
        on = ["fib:18", "--machine", "2x8", "--workers", "2", "--seeds", "3"]
        plain, compact, scatter = ([row["virtual_seconds"] for row in rows(*on, *extra)] for extra in (
            [], ["--pinning", "compact"], ["--pinning", "scatter"]))  # fmt: skip
        self.assertEqual(plain, compact)
        self.assertGreater(scatter[1], compact[1])
        self.assertEqual(scatter[0], plain[0])

    def test_numa_is_the_machines_unless_given(self):
        on = ["matmul:256", "--machine", "xeon-x7550", "--workers", "1", "--seeds", "1"]
        mine, first_touch, interleave = (
            rows(*on, *extra) for extra in ([], ["--numa", "first_touch"], ["--numa", "interleave"])
        )
        self.assertEqual(mine, first_touch)
        self.assertEqual([row["numa"] for row in mine + interleave], ["first_touch"] * 2 + ["interleave"] * 2)
        for row, other in zip(first_touch, interleave, strict=True):
            self.assertGreater(other["virtual_seconds"], row["virtual_seconds"])

    def test_loops_are_crossed_with_policies(self):
        arguments = ["nqueens_loop:5", "--machine", "2x2", "--seeds", "2", "--workers", "1,4"]
        found = rows(*arguments, "--policy", "lace,standard", "--loop", "auto,lazy_breadth")[1:]
        self.assertEqual(
            [(row["policy"], row["loop"], row["workers"]) for row in found],
            [(p, loop, n) for p in ["lace", "standard"] for loop in ["auto", "lazy_breadth"] for n in [1, 4]],
        )
        found = rows(*arguments, "--policy", "lazy_breadth,lazy_depth2,chase_lev")[1::2]
        self.assertEqual([row["loop"] for row in found], ["lazy_breadth", "lazy_depth2", "auto"])
        self.assertTrue(all("transactions" in row["counters"] for row in found))

    def test_work_is_charged(self):
        work = json.loads((MACHINES / "generic.json").read_text())["work"]
        fib, queens = (rows(name, "--machine", "1x1", "--seeds", "1")[0] for name in ("fib:15", "nqueens:6"))
        self.assertAlmostEqual(fib["ns_per_task"], work["fib_call_ns"], 6)
        self.assertAlmostEqual(queens["ns_per_task"], 6 * work["nqueens_check_ns"], 6)

    def test_workloads_with_hints(self):
        # Twenty timed iterations: of two, one seed in a few moves hardly a tile.
        names = ["heat2d:256/iterations=25", "heat2d:256/iterations=25/first_touch", "matmul_groups:256", "fib_hints:12"]
        policies = ["adws", "adws_nosteal", "lace"]
        found = rows(*names, "--machine", "2x4", "--workers", "3", "--policy", ",".join(policies), "--seeds", "2")
        self.assertEqual(len(found), len(names) * (1 + len(policies)))  # wrong results would have none
        moved = {row["policy"]: row["result"].split()[2] for row in found if row["workload"] == "heat2d"}
        self.assertEqual(moved["adws_nosteal"], "0.0")
        self.assertGreater(float(moved["lace"]), 10)
        # What is charged for a product, but for its data: 128 rows of three matrices.
        work = json.loads((MACHINES / "generic.json").read_text())["work"]
        charged = 128**3 * work["sgemm_madd_ns"] * 1e-9
        serial = rows("matmul_groups:128", "--machine", "1x1", "--seeds", "1")[0]
        self.assertGreater(serial["seconds_min"], charged)
        self.assertLess(serial["seconds_min"], 1.2 * charged)

    def test_joins_differ_as_in_the_lace_paper(self):
        # Figures 5, 6 and 8 in shape, on a tree small enough for a test: plain leapfrogging starves, the others do not.
        arguments = ["uts", "--machine", "opteron-6168", "--workers", "8,48", "--policy", "lace", "--seeds", "5"]
        speed_up = {}
        for row in rows(*arguments, "--join", "leapfrog,transitive,random")[1:]:
            speed_up[row["join"], row["workers"]] = 1 / row["ratio_to_serial"]
        for join in ["leapfrog", "transitive", "random"]:
            self.assertGreater(speed_up[join, 8], 6.5)
        self.assertLess(speed_up["leapfrog", 48], 28)
        self.assertGreater(speed_up["random", 48], 35)
        self.assertGreater(speed_up["transitive", 48], speed_up["leapfrog", 48] + 4)

    def test_a_ticker_deals_in_the_middle_of_long_tasks(self):
        # Leaves of a quarter of a millisecond, and nobody who waits interrupts by itself.
        on = ["matmul:384/96", "--machine", "2x8", "--workers", "12", "--policy", "sender", "--interrupt-after", "0"]
        without = rows(*on, "--seeds", "5")[1]
        ticking = rows(*on, "--seeds", "5", "--interrupt-every", "50000")[1]
        self.assertEqual(without["counters"]["interrupts"], 0)
        self.assertGreater(ticking["counters"]["interrupts"], 0)
        self.assertLess(ticking["virtual_seconds"], 0.8 * without["virtual_seconds"])

    def test_a_ticker_takes_the_last_hardware_thread(self):
        on = ["fib:15", "--machine", "1x2", "--workers", "1", "--policy", "sender", "--interrupt-every", "5000"]
        self.assertEqual((rows(*on)[1]["workers"], rows(*on)[1]["result"]), (1, "610"))

    def test_thousands_of_workers(self):
        # A quarter of a gigabyte for 4,096; the bound leaves room for the program's own copies.
        limit = 2 << 30
        workers = "4096" if os.environ.get("FILCH_TESTS") == "full" else "2048"
        with subprocess.Popen(
            [PROGRAM, "simulate", "fib:16", "--machine", "32x128", "--workers", workers, "--seeds", "1", "--json", "-"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            row = json.loads(process.communicate(timeout=500)[0])["rows"][1]
        self.assertEqual((str(row["workers"]), row["result"]), (workers, "987"))
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, limit)

    def test_maps_are_drawn(self):
        on = ["sph:2d/300/iterations=6", "--machine", "2x2", "--workers", "4", "--policy", "lace,adws", "--seeds", "1"]
        with tempfile.TemporaryDirectory() as folder:
            finished = run("simulate", *on, "--map", str(Path(folder) / "map"))
            if "without drawing" in finished.stderr:
                self.assertEqual((finished.returncode, finished.stderr.count("\n")), (1, 1))
                return
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            first = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
            self.assertEqual(sorted(first), ["map.png", "map.svg"])
            # Of PNG: the signature, then width and height, two pixels for each point.
            self.assertEqual(first["map.png"][:8], b"\x89PNG\r\n\x1a\n")
            size = [int.from_bytes(first["map.png"][i : i + 4], "big") for i in (16, 20)]
            picture = xml.etree.ElementTree.fromstring(first["map.svg"])
            self.assertEqual(size, [int(2 * float(picture.attrib[key].removesuffix("pt"))) for key in ("width", "height")])
            # Both ends of the scale: workers 0 and 3.
            text = first["map.svg"].decode()
            for blue_or_red in ("rgb(0%,0%,100%)", "rgb(100%,0%,0%)"):
                self.assertIn(blue_or_red, text)
            again = run("simulate", *on, "--map", str(Path(folder) / "map"))
            self.assertEqual((again.returncode, again.stderr, again.stdout), (0, "", finished.stdout))
            second = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
            self.assertEqual([name for name in first if second[name] != first[name]], [])
            run("simulate", *on, "--map", str(Path(folder) / "only.svg"))
            self.assertEqual([path.name for path in Path(folder).glob("only.*")], ["only.svg"])

    def test_help(self):
        for command in ["simulate", "calibrate", "validate"]:
            finished = run(command, "--help")
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertIn(f"filch {command}", finished.stdout)
            self.assertIn("Example", finished.stdout)

    def test_one_place_needs_no_network(self):
        for communication in ["shared", "dedicated"]:
            on = ["--machine", "2x2", "--seeds", "1", "--workers", "2", "--places-communication", communication]
            [row] = rows(f"uts_places:{SMALL_TREE.removeprefix('uts:')}", *on)
            self.assertEqual((row["places"], row["workers"]), (1, 2))


class Examples(unittest.TestCase):
    """Those of --help: what takes long is simulated smaller, or refused for its file only, which is found out last."""

    SMALL = {
        "fib": "fib:5", "uts": SMALL_TREE, "uts_places": SMALL_TREE.replace("uts", "uts_places"), "nqueens": "nqueens:5",
        "nqueens_loop": "nqueens_loop:5", "matmul": "matmul:64", "cilksort": "cilksort:1000", "sph": "sph:2d/100",
    }  # fmt: skip

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        (Path(self.folder.name) / "machines").symlink_to(MACHINES)
        (Path(self.folder.name) / "PATH").write_text("0 1\n")

    def examples(self, command):
        """Without remarks, which are behind several spaces."""
        lines = run(command, "--help").stdout.splitlines()
        found = [re.split(" {2,}", line.strip())[0].split() for line in lines if line.startswith("  filch ")]
        self.assertNotEqual(found, [])
        return [words[1:] for words in found]

    def run_example(self, words):
        return subprocess.run([PROGRAM, *words], cwd=self.folder.name, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "FILCH_WORKERS": ""}, check=False)  # fmt: skip

    def test_simulations_run(self):
        for words in [*self.examples("simulate"), self.examples("calibrate")[1]]:
            with self.subTest(words=words):
                small = [self.SMALL.get(word.partition(":")[0], word) for word in words]
                finished = self.run_example([*small, *([] if "--seeds" in words else ["--seeds", "1"])])
                if "without drawing" in finished.stderr:
                    continue
                self.assertEqual((finished.returncode, finished.stderr), (0, ""))

    def test_what_takes_long_is_understood(self):
        for command, option in [("bench", "--json"), ("reproduce", "--out"), ("calibrate", "--out")]:
            for words in self.examples(command):
                if words[0] != command:
                    continue
                with self.subTest(words=words):
                    at = words.index(option) if option in words else len(words)
                    finished = self.run_example([*words[:at], option, "PATH/below", *words[at + 2 :]])
                    self.assertEqual((finished.returncode, finished.stdout), (2, ""))
                    self.assertIn("'PATH/below", finished.stderr)

    def test_what_takes_no_time_runs(self):
        for words in [*self.examples("list"), *self.examples("topology")]:
            with self.subTest(words=words):
                finished = self.run_example(words)
                self.assertEqual((finished.returncode, finished.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
