"""Each line of SOURCE that ends in "// refused" must be refused with a message of filch's, and with little else.

    refused_test.py SOURCE MESSAGE COMPILER OPTION...     MESSAGE: a regular expression of what each message says
"""

import re
import subprocess
import sys
from pathlib import Path

LINES_EACH = 14  # with those that say where something was instantiated


def main():
    source, message, *command = sys.argv[1:]
    done = subprocess.run([*command, "-fsyntax-only", source], capture_output=True, text=True, check=False)
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    refused = [i for i, line in enumerate(lines, 1) if line.endswith("// refused")]
    missing = [i for i in refused if f"{Path(source).name}:{i}:" not in done.stderr]
    messages = re.findall(rf"error: .*filch: .*{message}", done.stderr)
    said = len(done.stderr.splitlines())
    if done.returncode == 0 or missing or len(messages) != len(refused):
        sys.exit(f"lines {missing} compile, or {len(messages)} messages for {len(refused)} lines:\n{done.stderr}")
    if said > LINES_EACH * len(refused):
        sys.exit(f"{said} lines of errors for {len(refused)} lines:\n{done.stderr}")


main()
