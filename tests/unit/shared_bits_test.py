"""Each marked line of shared_bits.cpp must be refused with a message of filch's.

    shared_bits_test.py COMPILER OPTION...
"""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("shared_bits.cpp")


def main():
    command = [*sys.argv[1:], "-fsyntax-only", str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    refused = [i for i, line in enumerate(lines, 1) if line.endswith("// refused")]
    missing = [i for i in refused if f"{SOURCE.name}:{i}:" not in done.stderr]
    messages = re.findall(r"error: .*filch: .*std::vector<bool>", done.stderr)
    if done.returncode == 0 or missing or len(messages) != len(refused):
        sys.exit(f"lines {missing} compile, or {len(messages)} messages for {len(refused)} lines:\n{done.stderr}")


main()
