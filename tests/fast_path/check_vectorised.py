#!/usr/bin/env python3
"""Looks whether the compiler makes of a parallel loop what it makes of a serial one: packed instructions, whatever the
type of the bounds. It reads the disassembly of the chunks of loops.cpp.

    check_vectorised.py OBJECT
"""
import re
import subprocess
import sys

TYPES = ["int", "unsigned int", "long", "unsigned long", "short", "unsigned char"]
# What is looked for in the functions that have a name in their own.
WANTED = {"scale_by": r"\bv?mulps\b", "scale_part_by": r"\bv?mulps\b", "value_by": r"\bv?paddd\b"}


def functions(path: str) -> dict[str, str]:
    listing = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", path], check=True, capture_output=True,
                             text=True).stdout
    return dict(re.findall(r"^[0-9a-f]+ <(.*)>:\n((?:.+\n)+)", listing, re.MULTILINE))


def main() -> None:
    code = functions(sys.argv[1])
    failed = False
    wanted = {f"::{body}<{index}>": what for body, what in WANTED.items() for index in TYPES}
    wanted["::scale>"] = WANTED["scale_by"]  # over iterators
    for body, instruction in wanted.items():
        mine = [text for name, text in code.items() if body in name]
        packed = sum(len(re.findall(instruction, text)) for text in mine)
        print(f"{body}: {packed} packed instructions in {len(mine)} functions")
        failed |= packed == 0
    sys.exit(failed)


main()
