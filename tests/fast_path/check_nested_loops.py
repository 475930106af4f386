#!/usr/bin/env python3
"""Counts what a loop in many others costs on one worker, in instructions by callgrind: no more where there are four times as many.

    check_nested_loops.py PROGRAM MOST_TIMES_FEW
"""
import sys

from callgrind import instructions

FEW = 250


def main() -> None:
    program, most = sys.argv[1], float(sys.argv[2])
    of = {depth: instructions(program, depth) for depth in (FEW, 2 * FEW, 4 * FEW, 8 * FEW)}
    few = (of[2 * FEW] - of[FEW]) / FEW
    many = (of[8 * FEW] - of[4 * FEW]) / (4 * FEW)
    print(f"instructions per loop in {FEW} others and more: {few:.1f}; in {4 * FEW}: {many:.1f}")
    sys.exit(many > most * few)


main()
