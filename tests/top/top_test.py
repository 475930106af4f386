"""Tests of "filch top".

  top_test.py PROGRAM WATCHED OTHER_VERSION FOLDER      FOLDER: for a stripped copy
"""

import contextlib
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import command_line  # noqa: E402: found by the line above

PROGRAM, WATCHED, OTHER_VERSION, FOLDER = sys.argv[1:5]
del sys.argv[1:5]

ROW = re.compile(r" +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) % +(\d+) % +(\d+) %$")


def top(*arguments):
    return command_line.run(PROGRAM, "top", *arguments)


@contextlib.contextmanager
def running(*command):
    """A program that has said that it is ready; it ends when its input does."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process.pid


def rows(text):
    """Of each line: the worker; tasks taken, steals and failed steals per second; busy, idle and asleep in percent."""
    return [tuple(map(float, match.groups())) for match in map(ROW.match, text.splitlines()) if match]


class TopTest(unittest.TestCase):
    def watch(self, pid):
        finished = top(pid, "--interval", "0.4", "--count", "3")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertEqual(finished.stderr, "")
        return finished.stdout

    def watch_until(self, pid, shows):
        """Until a line of the reports is as expected: others may need the processors."""
        for _ in range(50):
            text = self.watch(pid)
            if any(shows(*row) for row in rows(text)):
                return text
        self.fail("never as expected; last seen:\n" + text)

    def check_work(self, program):
        # Up to 50 tasks of 20 ms per second.
        with running(program, "work") as pid:
            text = self.watch_until(pid, lambda worker, taken, *_: worker == 1 and taken > 0)
        self.assertEqual(text.count("policy lace, 2 workers"), 3, text)
        self.assertNotIn("\x1b", text)
        found = rows(text)
        self.assertEqual([worker for worker, *_ in found], [0, 1] * 3, text)
        for worker, taken, steals, _, busy, idle, asleep in found:
            self.assertEqual(taken, steals, text)
            self.assertAlmostEqual(busy + idle + asleep, 100, delta=2, msg=text)
            if worker == 0:
                self.assertGreater(busy, 50, text)

    def test_a_program_that_works(self):
        self.check_work(WATCHED)

    def test_a_stripped_program(self):
        copy = os.path.join(FOLDER, "stripped")
        subprocess.run(["strip", "-o", copy, WATCHED], check=True)
        self.check_work(copy)

    def test_a_program_that_sleeps(self):
        def sleeps(worker, taken, steals, failed, busy, idle, asleep):
            return worker == 1 and busy < 10 and asleep > 80

        with running(WATCHED, "sleep") as pid:
            text = self.watch_until(pid, sleeps)
        for worker, taken, _, _, busy, _, asleep in rows(text):
            self.assertEqual(taken, 0, text)
            if worker == 0:
                self.assertEqual((busy, asleep), (0, 0), text)  # the seat has no thread

    def test_it_ends_with_the_program(self):
        process = subprocess.Popen([WATCHED, "work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        watching = subprocess.Popen([PROGRAM, "top", str(process.pid), "--interval", "0.2"], stdout=subprocess.PIPE, text=True)
        self.assertIn("watched", watching.stdout.readline())
        process.communicate("")
        rest, _ = watching.communicate(timeout=60)
        self.assertEqual(watching.returncode, 0)
        self.assertRegex(rest, r"process \d+ \(filch_watched\) has ended\n$")


class MistakeTest(command_line.MisuseTest):
    def test_misuse(self):
        self.check_misuse(top(), "needs the id of a process")
        self.check_misuse(top("solver"), "PID 'solver' is not a whole number")
        self.check_misuse(top("0"), "PID '0' is out of range")
        self.check_misuse(top("1", "2"), "unknown argument '2'")
        self.check_misuse(top("1", "--interval", "0"), "--interval '0' is no number of seconds")
        self.check_misuse(top("1", "--interval", "fast"), "--interval 'fast' is no number of seconds")
        self.check_misuse(top("1", "--interval", "nan"), "--interval 'nan' is no number of seconds")
        self.check_misuse(top("1", "--count", "0"), "--count '0' is out of range")
        self.check_misuse(top("1", "--seconds", "2"), "unknown option '--seconds'")

    def check_failure(self, finished, *expected):
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertEqual(finished.stdout, "")
        self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
        for text in expected:
            self.assertIn(text, finished.stderr)

    def test_no_such_process(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        self.check_failure(top(ended.pid), f"there is no process {ended.pid}")

    def test_a_process_without_filch(self):
        self.check_failure(top(os.getpid()), f"there is no filch in process {os.getpid()}", "name a program")

    def test_another_version(self):
        with running(OTHER_VERSION) as pid:
            self.check_failure(top(pid), "another version of filch", "use that version's 'filch top'")

    def test_not_permitted(self):
        if os.geteuid() == 0:  # then without what makes root root
            with running(WATCHED, "sleep") as pid:
                nobody = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
                finished = command_line.run(*nobody, PROGRAM, "top", pid)
        else:
            finished = top(1)
        self.check_failure(finished, "may not be read; be its user")


if __name__ == "__main__":
    unittest.main()
