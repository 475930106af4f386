"""Tests of 'filch reproduce', run as a user runs it.

  reproduce_test.py PROGRAM VM_PROGRAM SOURCES
"""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import command_line  # noqa: E402: found by the line above

SOURCES = Path(sys.argv.pop(3))
VM_PROGRAM = Path(sys.argv.pop(2))
PROGRAM = Path(sys.argv.pop(1))

QUICK = "lazy/table2"


def run(*arguments, program=PROGRAM, **environment):
    return command_line.run(program, "reproduce", *arguments, **environment)


class Misuse(command_line.MisuseTest):
    def check(self, arguments, *expected):
        with self.subTest(arguments=arguments):
            self.check_misuse(run(*arguments), *expected)

    def test_names(self):
        self.check([], "no paper", "lazy")
        self.check(["lasy"], "'lasy'", "did you mean 'lazy'?")
        self.check([""], "''", "papers are adws, lazy, private-deques")
        self.check(["lazy/table3"], "'table3'", "did you mean 'table2'?", "table5", "figures7-9")
        self.check(["lazy/"], "''", "lazy has table2")
        self.check(["lazy/table2/x"], "'table2/x'")
        self.check(["lazy/../lazy/table2"], "'../lazy/table2'")
        self.check([QUICK, QUICK], QUICK, "once")
        self.check([QUICK, "lazy"], QUICK, "once")
        # A figure is all its parts.
        self.check(["private-deques/fig6", "private-deques/fig6b"], "'private-deques/fig6b'", "once")
        self.check(["private-deques/fig6a", "private-deques/fig6"], "'private-deques/fig6a'", "once")
        self.check(["private-deques/fig"], "'fig'", "private-deques has fig4")
        self.check(["private-deques/fig6c"], "'fig6c'", "did you mean 'fig6a'?")

    def test_options(self):
        self.check([QUICK, "--scale", "large"], "'large'", "scales are small, paper")
        self.check([QUICK, "--scale", "small", "--scale", "paper"], "--scale", "once")
        self.check([QUICK, "--processes", "0"], "--processes", "'0'")
        self.check([QUICK, "--sensitivity=2"], "--sensitivity")
        self.check([QUICK, "--scal", "small"], "'--scal'", "did you mean '--scale'?")

    def test_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "file"
            file.touch()
            # Nothing is run before this is found out: at the paper's size it would take hours.
            self.check(["lazy/table5", "--scale", "paper", "--out", file], str(file))
            self.check(["lazy/table5", "--scale", "paper", "--out", file / "below"], str(file))
        self.check(["lazy/table5", "--scale", "paper", "--out", ""], "''")


class Reproduce(unittest.TestCase):
    def test_a_table(self):
        finished = run(QUICK)
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        for text in ["Table II", "lazy/table2", "scale small", "DF-LS", "(paper)", "(1535)"]:
            self.assertIn(text, finished.stdout)
        claims = [line for line in finished.stdout.splitlines() if line.startswith(("PASS", "FAIL"))]
        self.assertGreater(len(claims), 10)
        self.assertTrue(all(line.startswith("PASS") for line in claims))

    def test_what_cannot_be_written_is_saved_and_the_rest_goes_on(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
            out = Path(folder)
            (out / "lazy-table2.json").symlink_to("/dev/full")
            finished = run(QUICK, "lazy/section9-4", "--out", out, TMPDIR=temporary)
            self.assertEqual(finished.returncode, 1)
            self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
            [saved] = Path(temporary).iterdir()
            self.assertIn(f"'{saved}'", finished.stderr)
            self.assertIn("claims", json.loads(saved.read_text()))
            for written in ["lazy-table2.txt", "lazy-section9-4.txt", "lazy-section9-4.json"]:
                self.assertTrue((out / written).is_file(), written)

    def test_the_environment_does_not_matter(self):
        expected = run(QUICK).stdout
        for name, value in [("FILCH_LOOP", "simple"), ("FILCH_JOIN", "random"), ("FILCH_POLICY", "no such policy")]:
            with self.subTest(name=name):
                finished = run(QUICK, **{name: value})
                self.assertEqual((finished.returncode, finished.stdout, finished.stderr), (0, expected, ""))

    def test_files(self):
        with tempfile.TemporaryDirectory() as above:
            folder = Path(above) / "not" / "yet"
            finished = run(QUICK, "--out", folder)
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertEqual(sorted(each.name for each in folder.iterdir()), ["lazy-table2.json", "lazy-table2.txt"])
            self.assertEqual((folder / "lazy-table2.txt").read_text(), finished.stdout)
            result = json.loads((folder / "lazy-table2.json").read_text())
        self.assertEqual((result["experiment"], result["scale"]), (QUICK, "small"))
        (point,) = [each for each in result["points"] if (each["setting"], each["x"]) == ("SP", "1024/1")]
        self.assertEqual((point["policy"], point["loop"], point["workers"]), ("chase_lev", "simple", 1))
        self.assertEqual(point["values"], {"transactions": 1535, "synchronizations": 1024})
        self.assertEqual(point["values"], point["paper"])
        self.assertTrue(all(each["holds"] for each in result["claims"]))
        self.assertIn(f"PASS  {result['claims'][0]['says']} (", finished.stdout)

    def test_sensitivity(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(QUICK, "--sensitivity", "--out", folder).returncode, 0)
            result = json.loads((Path(folder) / "lazy-table2.json").read_text())
        self.assertEqual({each["communication_factor"] for each in result["claims"]}, {1, 0.7, 1.3})
        self.assertEqual({each["communication_factor"] for each in result["points"]}, {1, 0.7, 1.3})

    def test_several(self):
        finished = run("lazy/section9-3", QUICK)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        self.assertLess(finished.stdout.index("Section 9.3"), finished.stdout.index("Table II"))

    def test_help(self):
        finished = run("--help")
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        for text in ["filch reproduce", "Example", "--scale"]:
            self.assertIn(text, finished.stdout)


class OtherExperiments(unittest.TestCase):
    """The program with experiments of its own, found relative to it."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bin").mkdir()
        self.program = shutil.copy(VM_PROGRAM, self.folder / "bin")
        # The build tree's layout is that of an installation.
        shutil.copytree(SOURCES / "machines", self.folder / "share" / "filch" / "machines")
        self.paper = self.folder / "share" / "filch" / "reproduce" / "lazy"
        self.paper.mkdir(parents=True)
        (self.paper / "paper.json").write_text(json.dumps({"title": "T", "experiments": ["table2"]}))
        self.experiment = json.loads((SOURCES / "reproduce" / "lazy" / "table2.json").read_text())

    def run_it(self):
        (self.paper / "table2.json").write_text(json.dumps(self.experiment))
        return run(QUICK, program=self.program)

    def test_a_claim_that_does_not_hold(self):
        self.experiment["claims"][0]["factor"] += 1
        finished = self.run_it()
        self.assertEqual((finished.returncode, finished.stderr), (1, ""))
        lines = [line for line in finished.stdout.splitlines() if line.startswith("FAIL")]
        self.assertEqual(len(lines), 1)
        self.assertIn(self.experiment["claims"][0]["says"], lines[0])

    def test_rows_of_this_machine(self):
        self.experiment["settings"]["OpenMP"] = {"runner": "openmp"}
        self.experiment["settings"]["sender"] = {"policy": "sender", "delta": 5000}
        simulated = [name for name in self.experiment["settings"] if name not in ("OpenMP", "sender")]
        for each in self.experiment["runs"]:
            each.setdefault("settings", simulated)
        here = {"group": "here", "machine": "this machine", "workload": "fib:15", "workers": "{x}", "x": [2], "seeds": 3}
        self.experiment["runs"].append({**here, "settings": ["sender", "OpenMP"]})
        self.experiment["metrics"].append({"name": "speed_up", "title": "Times faster"})
        # It is 'filch bench' that measures, from the same folder.
        finished = self.run_it()
        self.assertEqual(finished.returncode, 1)
        self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
        self.assertIn("here", finished.stderr)
        shutil.copy(PROGRAM, self.folder / "bin")
        self.assertEqual(run(QUICK, "--out", self.folder / "out", program=self.program).returncode, 0)
        result = json.loads((self.folder / "out" / "lazy-table2.json").read_text())
        points = [each for each in result["points"] if each["group"] == "here"]
        self.assertEqual([each["setting"] for each in points], ["sender", "OpenMP"])
        self.assertEqual([each["runner"] for each in points], ["filch", "openmp"])
        for each in points:
            self.assertEqual((each["machine"], each["workers"], each["runs"]), ("this machine", 2, 3))
            self.assertGreater(each["values"]["speed_up"], 0)
        self.assertEqual([each["values"]["transactions"] is None for each in points], [False, True])
        self.assertTrue(all(each["holds"] for each in result["claims"]))

    def with_interrupts(self, **runs):
        self.experiment["settings"] = {
            "sender": {"policy": "sender", "interrupt_after": 0, "interrupt_every": "{x}"},
            "receiver": {"policy": "receiver", "interrupt_after": 1000},
        }
        self.experiment["runs"] = [
            {"group": "G", "machine": "1x4", "workload": "matmul:192/48", "workers": 3, "x": [0, 9000], "seeds": 3, **runs}
        ]
        self.experiment["metrics"] = [{"name": "interrupts", "title": "I", "counters": ["interrupts"]}]
        self.experiment["claims"] = [
            {"says": "none", "left": ["G", "sender", "least"], "is": "==", "factor": 0},
            {"says": "some", "left": ["G", "sender", "largest"], "is": ">=", "factor": 1},
            {"says": "also some", "left": ["G", "receiver", "least"], "is": ">=", "factor": 1},
        ]

    def test_interrupts(self):
        self.with_interrupts()
        finished = self.run_it()
        self.assertEqual((finished.returncode, finished.stderr), (0, ""), finished.stdout)

    def test_interrupts_that_are_wrong(self):
        self.with_interrupts(x=["often", "seldom"])
        self.check_broken("Table II", "interrupt_every 'often'")
        self.with_interrupts(workers=4)  # all of the machine's
        self.check_broken("Table II", "'9000' needs a hardware thread", "1x5")
        self.experiment["settings"]["receiver"]["interrupt_every"] = 5
        self.check_broken("table2.json", "setting 'receiver' has 'interrupt_every'", "policy 'receiver'")

    def check_broken(self, *expected):
        finished = self.run_it()
        self.assertEqual((finished.returncode, finished.stdout), (1, ""), finished.stderr)
        self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
        for text in expected:
            self.assertIn(text, finished.stderr)

    def test_a_file_that_is_wrong(self):
        self.experiment["runs"][0]["workload"] = "flat_lop:{x}"
        self.check_broken("Table II", "'flat_lop'")
        self.experiment["runs"][0]["machine"] = "nowhere"
        self.check_broken("Table II", "'nowhere'")
        self.experiment["runs"][0]["machine"] = "1x1"
        self.experiment["runs"][0]["workers"] = 2
        self.check_broken("Table II", "'2'")
        del self.experiment["title"]
        self.check_broken("table2.json", "no 'title'")

    def test_no_experiments(self):
        shutil.rmtree(self.paper)
        finished = run(QUICK, program=self.program)
        self.assertEqual((finished.returncode, finished.stdout), (1, ""))
        self.assertIn(str(self.paper.parent), finished.stderr)


if __name__ == "__main__":
    unittest.main()
