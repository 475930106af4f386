#!/usr/bin/env python3
"""Checks that filch profile makes a page of a program whose own name, and the names in it, are not UTF-8.

    profile_command_test.py FILCH PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def expect(so: bool, what: str) -> None:
    if not so:
        sys.exit(f"not so: {what}")


def main() -> None:
    filch, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        other_name = os.fsencode(folder) + b"/caf\xe9"
        os.symlink(program, other_name)
        command = [filch, "profile", "--output", page, "--program", "--", other_name, "names"]
        done = subprocess.run(command, capture_output=True, check=False)
        expect(done.returncode == 0, f"it makes a page: {done}")
        text = page.read_text(encoding="utf-8")
    begin = text.index('type="application/json">') + len('type="application/json">')
    figures = json.loads(text[begin : text.index("</script>", begin)])
    expect(figures["program"] == "caf\ufffd", f"it is the program's: {figures['program']!a}")
    names = {part["name"] for part in figures["named"]}
    expect(names == {"caf\u00e9", "caf\ufffd"}, f"with the names: {names!a}")


if __name__ == "__main__":
    main()
