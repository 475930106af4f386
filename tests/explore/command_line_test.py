"""Wrong use of filch_explore: one line that names the value and the remedy, exit status 2.

  command_line_test.py PROGRAM
"""

import sys
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

    def test_unknown_strategy(self):
        self.refused("--strategy", "clever", names=["clever", "random", "pct", "exhaustive"])

    def test_unknown_damage(self):
        self.refused("--plant", "roses", names=["roses", "lost_wake_up"])

    def test_bad_numbers(self):
        for option in ("--seconds", "--runs"):
            for value in ("0", "-1", "x"):
                self.refused(option, value, names=[option, value])

    def test_unknown_option(self):
        self.refused("--quick", names=["--quick"])

    def test_bad_seed(self):
        for seed in ("", "random", "random:x", "clever:1", "exhaustive:1.x"):
            self.refused("start_stop", names=[f"'{seed}'", "seed"], FILCH_VM_SEED=seed)


class Use(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
