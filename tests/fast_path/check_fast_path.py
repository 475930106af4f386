#!/usr/bin/env python3
"""Counts what a fork and its join cost on one worker, exactly: instructions per call of fib with inlining blocked, by
callgrind, and locked instructions and fences in the compiled function, by disassembly.

    check_fast_path.py PROGRAM POLICY MOST_INSTRUCTIONS
"""
import re
import subprocess
import sys

from callgrind import instructions


def calls(n: int) -> int:
    """Calls that plain double recursion makes for fib(n)."""
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b + 1
    return b


def expensive(program: str) -> list[str]:
    """Locked instructions, exchanges with memory and fences in the function."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True, capture_output=True,
                             text=True).stdout
    body = re.search(r"<_Z11fib_countedi>:\n(.*?)\n\n", listing, re.DOTALL)
    if body is None:
        sys.exit("the function fib_counted is not in the program")
    return [line for line in body.group(1).splitlines() if re.search(r"\b(lock|[lms]fence|xchg\b.*\()", line)]


def main() -> None:
    program, policy, most = sys.argv[1], sys.argv[2], float(sys.argv[3])
    # The difference of two runs has nothing of the start and the end of the program in it.
    small, large = 16, 22
    per_call = (instructions(program, large, policy) - instructions(program, small, policy)) / (
        calls(large) - calls(small))
    print(f"{per_call:.2f} instructions per call, at most {most:g} wanted")
    found = expensive(program)
    print(f"{len(found)} locked instructions and fences", *found, sep="\n")
    sys.exit(per_call > most or bool(found))


main()
