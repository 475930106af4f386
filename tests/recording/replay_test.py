#!/usr/bin/env python3
"""Checks that a recorded schedule is replayed: each task is run by the worker that ran it when it was recorded.

    replay_test.py [EMULATOR...] PROGRAM
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def expect(so: bool, what: str) -> None:
    if not so:
        sys.exit(f"not so: {what}")


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(arguments, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def workers_in(output: str) -> set:
    return {word.split(":")[1] for word in output.split() if ":" in word}


def main() -> None:
    program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        schedule = str(Path(folder) / "schedule")
        # Where the machine is busy, one worker may run all before another one is awake.
        for _ in range(50):
            recorded = run(*program, "4", FILCH_RECORD=schedule)
            expect((recorded.returncode, recorded.stderr) == (0, ""), f"it records: {recorded.stderr}")
            if len(workers_in(recorded.stdout)) > 1:
                break
        else:
            sys.exit("not so: several workers take part, once in 50 times")
        for i in range(10):
            replayed = run(*program, "4", FILCH_REPLAY=schedule)
            expect((replayed.returncode, replayed.stderr) == (0, ""), f"it replays: {replayed.stderr}")
            differ = [pair for pair in zip(recorded.stdout.split(), replayed.stdout.split()) if pair[0] != pair[1]]
            expect(not differ and len(recorded.stdout) == len(replayed.stdout), f"replay {i} is as recorded, and not {differ[:20]}")
        said_nothing = run(*program, FILCH_REPLAY=schedule)
        expect(said_nothing.stdout == recorded.stdout, "as many workers as were recorded, if the program says nothing")

        locked = run(*program, "3", "locked", FILCH_RECORD=str(Path(folder) / "locked"))
        expect((locked.stdout, locked.stderr) == ("0\n", ""), f"no waiter runs parts of a loop: {locked.stdout}{locked.stderr}")

        of_parent = str(Path(folder) / "of_parent")
        forked = run(*program, "2", "forks", FILCH_RECORD=of_parent)
        expect("child 0\n" in forked.stdout and forked.stderr == "", f"a child is not recorded: {forked.stdout}{forked.stderr}")
        replayed = run(*program, "2", "forks", FILCH_REPLAY=of_parent)
        expect((replayed.stdout, replayed.stderr) == (forked.stdout, ""), f"nor is it replayed: {replayed.stderr}")

        for how in ("exits", "exits_at_once"):
            exits = run(*program, "2", how, FILCH_RECORD=str(Path(folder) / how))
            expect(exits.returncode == 0 and "lacks what had not ended when the program exited (calls of run: 1)" in exits.stderr,
                   f"what is not in a schedule is said: {exits.stderr}")

        for how in ("leaves", "leaves_at_once"):
            for variable in ("FILCH_RECORD", "FILCH_TRACE", "FILCH_PROFILE", "FILCH_REPLAY"):
                file = f"{how}.{variable.replace('REPLAY', 'RECORD')}"
                left = subprocess.run([*program, "2", how], cwd=folder, env={**os.environ, variable: file},
                                      capture_output=True, text=True, check=False)
                expect((left.returncode, left.stderr) == (0, ""), f"it goes to another folder: {left.stderr}")
                expect((Path(folder) / file).stat().st_size > 0, f"{variable} is a file of the folder it was named in")

        def check_refused(expected: str, *arguments: str, **variables: str) -> None:
            refused = run(*program, *arguments, **variables)
            expect(refused.returncode != 0 and expected in refused.stderr, f"'{expected}' is said: {refused.stderr}")

        check_refused("3 workers, where the schedule of FILCH_REPLAY has 4; replay with as many", "3", FILCH_REPLAY=schedule)
        check_refused("FILCH_REPLAY '/nowhere/at/all' cannot be read: No such file or directory; name a file", FILCH_REPLAY="/nowhere/at/all")
        check_refused(f"FILCH_REPLAY '{program[-1]}' is no schedule; name a file", FILCH_REPLAY=program[-1])
        check_refused("FILCH_RECORD '/nowhere/at/all' cannot be written", FILCH_RECORD="/nowhere/at/all")
        check_refused("are both set", FILCH_RECORD=schedule, FILCH_REPLAY=schedule)
        for variable in ("FILCH_RECORD", "FILCH_REPLAY"):
            check_refused("FILCH_PROFILE is set beside", FILCH_PROFILE=schedule, **{variable: schedule})
        nothing = Path(folder) / "exits_at_once"
        check_refused(f"FILCH_REPLAY '{nothing}' has no call of run that ended; record a program that exits after one", FILCH_REPLAY=str(nothing))
        damaged = Path(folder) / "damaged"
        damaged.write_text("filch-schedule-2\n0 0 4 1\n7 4\n")
        check_refused(f"FILCH_REPLAY '{damaged}' names a worker that is not there; name a file", FILCH_REPLAY=str(damaged))
        for header in ("0 0 4 0\n0 1 2000000000 0", "0 0 4 0\n0 1 5 0", "0 0 0 0", "0 0 -1 0", "0 0 1025 0"):
            damaged.write_text(f"filch-schedule-2\n{header}\nover\n")
            workers = header.split()[-2]
            check_refused(f"FILCH_REPLAY '{damaged}' has a call with {workers} workers, which its scheduler has not; name a file",
                          FILCH_REPLAY=str(damaged))
        cut_off = Path(folder) / "cut_off"
        text = Path(schedule).read_text()
        between_calls = text.rindex("\n", 0, text.rindex("over")) + 1
        for length in (between_calls, len(text) // 2, len(text) - 2):
            cut_off.write_text(text[:length])
            check_refused(f"FILCH_REPLAY '{cut_off}'", FILCH_REPLAY=str(cut_off))


if __name__ == "__main__":
    main()
