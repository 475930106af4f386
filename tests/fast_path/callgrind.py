"""Counts instructions by callgrind."""

import re
import subprocess
import tempfile
from pathlib import Path


def instructions(program: str, *arguments: int | str) -> int:
    """All instructions that the program executes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, *map(str, arguments)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE).group(1))
