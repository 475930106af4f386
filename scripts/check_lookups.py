#!/usr/bin/env python3
"""Checks that no public header calls a function by a name that is also looked up in the namespaces of its arguments: a
program's own function of that name would be called in its place. Calls are qualified (detail::run_loop), but for what the program
is to provide (CUSTOMISED).

Prints one line per violation, "FILE:LINE: lookup: what is wrong and what to do", and exits with 1 if there is one. Asks
clang++ for the syntax tree.

  check_lookups.py [ROOT]       ROOT: of the source tree; default: the one this script is in
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

CALL = "clang++-19 -std=c++20 -fsyntax-only -w -Xclang -ast-dump -fno-color-diagnostics -x c++ -".split()
INCLUDE_FOLDERS = ("include", "src/platform/native")
CUSTOMISED = {"include/filch/detail/range_ends.hpp": {"begin", "end"}}

# A place names what differs from the place before it in the tree: the file and line, the line, or the column alone.
PLACE = re.compile(r"(?P<file>/[^:<>, ]+|line):(?P<line>\d+)")
OPEN_CALL = re.compile(r"UnresolvedLookupExpr .*\(ADL\) = '(?P<name>[^']+)'")


def syntax_tree(root):
    """The compiler's syntax tree of all public headers, line by line."""
    folder = root / "include"
    text = "".join(f"#include <{header.relative_to(folder)}>\n" for header in sorted(folder.rglob("*.hpp")))
    folders = [f"-I{root / name}" for name in INCLUDE_FOLDERS]
    run = subprocess.run(CALL + folders, input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"check_lookups.py: the headers in '{folder}' do not compile:\n{run.stderr[:2000]}")
    return run.stdout.splitlines()


def violations(root):
    file, line, found = "", 0, set()
    for text in syntax_tree(root):
        for place in PLACE.finditer(text):
            file = place["file"] if place["file"] != "line" else file
            line = int(place["line"])
        call = OPEN_CALL.search(text)
        path = Path(file)
        if call is None or not path.is_relative_to(root):
            continue
        found.add((path.relative_to(root).as_posix(), line, call["name"]))
    for name, at, called in sorted(found):
        if called not in CUSTOMISED.get(name, ()):
            yield f"{name}:{at}: lookup: '{called}' may find a program's own function; qualify the call"
    # Who finds none of them has found nothing at all.
    seen = {(name, called) for name, _, called in found}
    for name, allowed in CUSTOMISED.items():
        for called in sorted(allowed):
            if (name, called) not in seen:
                yield f"{name}:1: lookup: '{called}' is not called there; take it off CUSTOMISED in scripts/check_lookups.py"


def main():
    parser = argparse.ArgumentParser(description="Checks that calls in public headers are qualified.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    found = list(violations(parser.parse_args().root.resolve()))
    print("".join(line + "\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
