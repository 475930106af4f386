#!/usr/bin/env python3
"""Counts what a task of a group costs on one worker, in instructions by callgrind: of one group, and of two and three
groups that are filled side by side and waited for one after the other.

    check_groups.py PROGRAM MOST_TIMES_ONE_GROUP
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TASKS = 240  # of a round


def instructions(program: str, rounds: int, groups: int) -> int:
    """All instructions that the program executes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, str(rounds), str(groups)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE).group(1))


def main() -> None:
    program, most = sys.argv[1], float(sys.argv[2])
    few, many = 10, 110
    per_task = [(instructions(program, many, groups) - instructions(program, few, groups)) / ((many - few) * TASKS)
                for groups in (1, 2, 3)]
    print("instructions per task of one, two and three groups:", *(f"{each:.1f}" for each in per_task))
    sys.exit(max(per_task) > most * per_task[0])


main()
