"""Wrong use of filch_explore: one line that names the value and the remedy, exit status 2.

  command_line_test.py PROGRAM
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import command_line  # noqa: E402: found by the line above

PROGRAM = sys.argv.pop(1)


def run(*arguments, **environment):
    return command_line.run(PROGRAM, *arguments, **environment)


class Misuse(command_line.MisuseTest):
    def refused(self, *arguments, names, **environment):
        self.check_misuse(run(*arguments, **environment), *names)

    def test_unknown_scenario(self):
        self.refused("no_such_thing", names=["no_such_thing", "--list"])

    def test_unknown_family(self):
        self.refused("--family", "no_such_thing", names=["no_such_thing", "split_deque", "lifecycle"])

    def test_unknown_strategy(self):
        self.refused("--strategy", "clever", names=["clever", "random", "pct", "exhaustive"])

    def test_unknown_damage(self):
        self.refused("--plant", "roses", names=["roses", "lost_wake_up"])

    def test_bad_numbers(self):
        for option in ("--seconds", "--runs"):
            for value in ("0", "-1", "x"):
                self.refused(option, value, names=[option, value])

        for value in ("nan", "inf"):
            self.refused("--seconds", value, names=["--seconds", value])
        for value in ("-1", "x"):
            self.refused("--seed", value, names=["--seed", value])

    def test_tag_without_mutations(self):
        self.refused("start_stop", "--tag", "SD3", names=["--tag", "--mutations"])

    def test_unknown_option(self):
        self.refused("--quick", names=["--quick"])

    def test_unknown_tag(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.md"
            self.refused("start_stop", "--mutations", table, "--tag", "XX1", names=["'XX1'", "SD3"])
            self.assertFalse(table.exists())

    def test_bad_seed(self):
        for seed in ("", "random", "random:x", "clever:1", "exhaustive:1.x"):
            self.refused("start_stop", names=[f"'{seed}'", "seed"], FILCH_VM_SEED=seed)


class Use(unittest.TestCase):
    def test_every_listed_name_is_a_scenario(self):
        for line in run("--list").stdout.splitlines():
            done = run(line.split(" ", 1)[0], "--list")
            self.assertEqual((done.returncode, done.stdout), (0, line + "\n"), done)

    def test_a_seed_runs_once(self):
        done = run("start_stop", FILCH_VM_SEED="random:5")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("random:5", done.stdout)

    def test_the_same_seed_makes_the_same_runs(self):
        first = run("lace_transitive", "--runs", "200", "--seconds", "100", "--strategy", "random,pct", "--seed", "3")
        again = run("lace_transitive", "--runs", "200", "--seconds", "100", "--strategy", "random,pct", "--seed", "3")
        self.assertEqual(first.returncode, 0, first)
        steps = [line.split()[1:5] for line in first.stdout.splitlines()[:1]]
        self.assertEqual(steps, [line.split()[1:5] for line in again.stdout.splitlines()[:1]])
        self.assertEqual(steps[0][0], "400")

    def test_who_noticed_before_is_asked_first(self):
        # Both notice it, so it is the table that decides.
        both = ["piece_pool", "piece_pool_two_thieves"]
        other = "| ZZ9 | src/zz.cpp:9 | load | acquire | relaxed | nobody; see the tag |  |"
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.md"
            for scenario in both:
                table.write_text(
                    f"| PP1 | src/elsewhere.cpp:1 | store | release | relaxed | {scenario} | somehow |\n{other}\n")
                done = run(*both, "--mutations", table, "--tag", "PP1", "--seconds", "20")
                self.assertEqual(done.returncode, 0, done)
                rows = [line for line in table.read_text().splitlines() if line.startswith("| PP1 ")]
                self.assertEqual(len(rows), 1, rows)
                self.assertIn(f"| {scenario} | data race", rows[0])
                self.assertIn("src/worker/piece_pool.cpp", rows[0])
                self.assertIn(other, table.read_text().splitlines())

    def test_only_the_tag_itself_explains(self):
        # [TS5] mentions [TS1] and says why nobody notices, which is not said of [TS1].
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.md"
            done = run("lace_deep", "--mutations", table, "--tag", "TS1", "--seconds", "0.1")
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("| **nobody** |", table.read_text())


if __name__ == "__main__":
    unittest.main()
