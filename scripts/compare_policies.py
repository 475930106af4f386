#!/usr/bin/env python3
"""Compares policy `standard` with the others, on every workload: for each number of workers, its time over that of the best.

  compare_policies.py PROGRAM [--workers 16,64,256] [--machine 8x32] [--seeds 3] [--policies P,...]
                      [--native]        measure on this machine instead (with all workers; --seeds: runs of each)

PROGRAM is `filch`. Prints a table in Markdown. Takes a quarter of an hour for the defaults.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

POLICIES = "standard,lace,chase_lev,lazy_breadth,lazy_depth,receiver,sender,hierarchical,adws"
# fib's own default is more than a minute of simulation; workloads of places have policies of their own.
SMALLER = {"fib": "fib:27", "fib_noinline": None, "fib_hints": "fib_hints:24"}


def rows(program: str, workload: str, options: argparse.Namespace) -> list:
    command = [program, "bench" if options.native else "simulate", workload, "--policy", options.policies]
    if options.native:
        command += ["--repeat", str(options.seeds)]
    else:
        command += ["--machine", options.machine, "--workers", options.workers, "--seeds", str(options.seeds)]
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        subprocess.run(command + ["--json", str(results)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [row for row in json.loads(results.read_text())["rows"] if row["runner"] == "filch"]


def workloads(program: str, is_native: bool) -> list:
    listed = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout)
    names = [each["name"] for each in listed["workloads"] if not each["name"].endswith("_places") and each["name"] != "recorded"]
    return names if is_native else [SMALLER.get(name, name) for name in names if SMALLER.get(name, name)]


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--workers", default="16,64,256")
    parser.add_argument("--machine", default="8x32")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--policies", default=POLICIES)
    parser.add_argument("--native", action="store_true")
    options = parser.parse_args()

    table, counts = [], []
    for workload in workloads(options.program, options.native):
        found = {}
        for row in rows(options.program, workload, options):
            found.setdefault(row["workers"], {})[row["policy"]] = row["seconds_median"]
            name = f"{row['workload']}:{row['size']}"
        if not counts:
            counts = sorted(found)
            print("| workload | " + " | ".join(f"{workers} workers, us | over the best | which is" for workers in counts) + " |")
            print("|---|" + "---:|---:|---|" * len(counts))
        cells = []
        for times in map(found.get, counts):
            best = min(times, key=times.get)
            cells.append((times["standard"], times["standard"] / times[best], best))
        table.append((name, cells))
        print(f"| {name} | " + " | ".join(f"{1e6 * time:.4g} | {ratio:.2f} | {best}" for time, ratio, best in cells) + " |", flush=True)
    for at, workers in enumerate(counts):
        ratios = [cells[at][1] for _, cells in table]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        near = sum(ratio <= 1.03 for ratio in ratios)
        print(f"\n{workers} workers: best or within 3 % on {near} of {len(ratios)}; {mean:.3f} in the (geometric) mean, {max(ratios):.2f} at worst.")


if __name__ == "__main__":
    main()
