"""What the tests of the command line share: programs are run as a user runs them."""

import os
import subprocess
import unittest


def run(program, *arguments, timeout=500, **environment):
    """Runs the program without input, and without settings of filch but those given."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FILCH_")}
    return subprocess.run(
        [program, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        env={**inherited, **environment},
        check=False,
    )


class MisuseTest(unittest.TestCase):
    """Every mistake: nothing on stdout, one line on stderr that says what was wrong and what to do, status 2."""

    def check_misuse(self, finished, *expected):
        self.assertEqual(finished.returncode, 2, finished.stderr)
        self.assertEqual(finished.stdout, "")
        self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
        self.assertRegex(finished.stderr, r"^filch(_explore)?: (?!.*filch(_explore)?: )")
        for text in expected:
            self.assertIn(text, finished.stderr)
