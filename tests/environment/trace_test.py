#!/usr/bin/env python3
"""Checks the traces that a program writes: that they are what Perfetto and chrome://tracing read, and that the spans of each worker
are inside of each other or one after the other.

    trace_test.py [EMULATOR...] PROGRAM
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = {"run", "task from", "queued task", "idle", "wait", "asleep", "offer", 'a "named" task', "short"}
MOST_EVENTS = 65536


def expect(so: bool, what: str) -> None:
    if not so:
        sys.exit(f"not so: {what}")


def check(path: Path, teams: int) -> collections.Counter:
    """The file's events by name, when it is well-formed."""
    trace = json.loads(path.read_text())
    named = set()
    spans = collections.defaultdict(list)
    counts = collections.Counter()
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            named.add((event["pid"], event.get("tid")))
            continue
        where = event["pid"], event["tid"]
        expect(where in named, f"worker {where} has a name before its events")
        expect(event["name"] in NAMES, f"'{event['name']}' is known")
        expect(event["ts"] >= 0, "no event is before the first")
        counts[event["name"]] += 1
        expect(event["ph"] in ("X", "i"), f"a kind of event {event['ph']}")
        if event["ph"] == "X":
            spans[where].append((event["ts"], event["ts"] + event["dur"], event["name"]))
    expect(len({pid for pid, _ in named}) == teams, f"{teams} schedulers are in {path}")
    for where, of_worker in spans.items():
        expect(len(of_worker) <= MOST_EVENTS, "the memory is bounded")
        of_worker.sort(key=lambda span: (span[0], -span[1]))
        open_until = []
        for since, until, name in of_worker:
            while open_until and open_until[-1] <= since:
                open_until.pop()
            # The clock's last digit is rounded.
            expect(not open_until or until <= open_until[-1] + 0.002,
                   f"'{name}' of {where} at {since} us is inside of what is around it")
            open_until.append(until)
    return counts


def run(program: list, scenario: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run([*program, scenario], env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def main() -> None:
    program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        done = run(program, "traced", FILCH_TRACE=str(file), FILCH_WORKERS="2")
        expect(done.returncode == 0, f"the traced program ends well: {done.stderr}")
        counts = check(file, teams=2)
        print(dict(counts))
        for name in ("run", "task from", "idle", "asleep", "offer", 'a "named" task'):
            expect(counts[name] > 0, f"'{name}' is in the trace")
        file.unlink()
        done = run(program, "traced_in_turn", FILCH_TRACE=str(file))
        expect(done.returncode == 0, f"the program with many schedulers ends well: {done.stderr}")
        counts = check(file, teams=8)
        expect(sum(counts.values()) <= 8 * MOST_EVENTS, "of schedulers that have ended the newest are kept")
        expect(counts['a "named" task'] == 1, "the last one, but not the first")
        file.unlink()
        done = run(program, "traced_names", FILCH_TRACE=str(file))
        expect(done.returncode == 0, f"the program with other names ends well: {done.stderr}")
        names = {event["name"] for event in json.loads(file.read_text(encoding="utf-8"))["traceEvents"]}
        for name in ("caf\u00e9 \u20ac \U0001f600", "caf\ufffd", "\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd\ufffd|\ufffd\ufffd", "\ufffd\ufffd"):
            expect(name in names, f"{name!a} is one of {names!a}")
        file.unlink()
        done = run(program, "traced_for_a_while", FILCH_TEST_TRACE=str(file))
        expect(done.returncode == 0, f"the program that traces itself ends well: {done.stderr}")
        counts = check(file, teams=1)
        print(dict(counts))
        expect(counts["short"] > MOST_EVENTS - 100, "of a worker that does too much the newest events are kept")
        done = run(program, "small_stack", FILCH_TRACE="/no/such/folder/trace.json")
        expect(done.returncode != 0, "a trace that cannot be written is an error")
        expect("/no/such/folder/trace.json" in done.stderr, "which names the file")


main()
