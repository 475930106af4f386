#!/usr/bin/env python3
"""Counts what a task of a group costs on one worker, in instructions by callgrind: of one group, and of two and three
groups that are filled side by side and waited for one after the other.

    check_groups.py PROGRAM MOST_TIMES_ONE_GROUP
"""
import sys

from callgrind import instructions

TASKS = 240  # of a round


def main() -> None:
    program, most = sys.argv[1], float(sys.argv[2])
    few, many = 10, 110
    per_task = [(instructions(program, many, groups) - instructions(program, few, groups)) / ((many - few) * TASKS)
                for groups in (1, 2, 3)]
    print("instructions per task of one, two and three groups:", *(f"{each:.1f}" for each in per_task))
    sys.exit(max(per_task) > most * per_task[0])


main()
