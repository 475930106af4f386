#!/usr/bin/env python3
"""Starts jobs of places_program, and checks how they end.

  places_test.py works MPIRUN PROGRAM PLACES [rma]    network and load boards
  places_test.py tasks MPIRUN PROGRAM PLACES [SEED]   tasks_program: all constructs of places
  places_test.py fails MPIRUN PROGRAM             a place throws, exits, or is killed; a setting is wrong
  places_test.py differs MPIRUN PROGRAM OTHER     places of two programs
  places_test.py policies MPIRUN PROGRAM          places of two steal protocols
  places_test.py alone MPIRUN PROGRAM             one place, without a launcher and with one
  places_test.py wrong_launcher MPIRUN PROGRAM    MPIRUN is not that of PROGRAM's MPI
  places_test.py workers MPIRUN PROGRAM           how many workers a place has that nobody has told
  places_test.py records MPIRUN PROGRAM           each place has files of its own
  places_test.py peer MPIRUN FILCH PLACES         filch bench --peer mpi
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FINAL_LINE = "after the last barrier"
PLACES = 4


def expect(condition, what, job=None):
    if not condition:
        sys.exit(f"not true: {what}" + (f"\nstatus {job.status}\n{job.out}\n{job.err}" if job else ""))


def shared_memory_in_use():
    """Names of all files of /dev/shm that some process has mapped."""
    used = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            used |= set(re.findall(r" /dev/shm/(\S+)", maps.read_text()))
        except OSError:  # the process has ended
            pass
    return used


def unused_shared_memory():
    """Names of all segments of POSIX's and of System V's shared memory that no process uses."""
    posix = {path.name for path in Path("/dev/shm").iterdir()} - shared_memory_in_use()
    lines = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()]
    users = lines[0].index("nattch")
    return posix | {line[1] for line in lines[1:] if line[users] == "0"}


class Job:
    """One run of a command that has ended."""

    def __init__(self, *command, **environment):
        before = unused_shared_memory()
        run = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
        )
        self.status, self.out, self.err = run.returncode, run.stdout, run.stderr
        self.own_lines = [line for line in self.err.splitlines() if line.startswith("filch:")]
        # Those of other programs are without a user for a moment only; one that stays is ours.
        for _ in range(50):
            left = unused_shared_memory() - before
            if not left:
                break
            time.sleep(0.1)
        expect(not left, f"no shared memory is left behind, but {left} is", self)

    def expect_refused(self, *words):
        expect(self.status == 2, "the exit status is 2", self)
        self.expect_one_line(*words)

    def expect_one_line(self, *words):
        expect(len(self.own_lines) == 1, "filch says one line", self)
        for word in words:
            expect(word in self.own_lines[0], f"it says '{word}'", self)
        expect(FINAL_LINE not in self.out, "no place has got past the last barrier", self)


def works(mpirun, program, places, *boards):
    job = Job(mpirun, "-n", places, program, "check", *boards)
    expect(job.status == 0, "the exit status is 0", job)
    expect(job.out == f"checked by {places} places\n", "all has been checked", job)
    expect(not job.err.strip(), "nobody complains", job)


def tasks(mpirun, program, places, seed="0"):
    # All take long where there are more places than processors.
    only_half = int(places) > 2 and os.environ.get("FILCH_TESTS") != "full"
    job = Job(mpirun, "-n", places, program, seed, "half" if only_half else "all")
    expect(job.status == 0, "the exit status is 0", job)
    expect(job.out == f"{8 if only_half else 16} ways at {places} places\n", "all ways have been checked", job)
    expect(not job.err.strip(), "nobody complains", job)


def fails(mpirun, program):
    last = PLACES - 1
    command = [mpirun, "-n", str(PLACES), program, "end"]
    job = Job(*command, "throws")
    expect(job.status != 0, "the exit status is not 0", job)
    job.expect_one_line(f"place {last}: has thrown on purpose")

    job = Job(*command, "throws_in_finish")  # all places have the exception
    expect(job.status != 0, "the exit status is not 0", job)
    job.expect_one_line(f"place {last}: has thrown on purpose")

    job = Job(*command, "exits")  # whose exit status MPICH may lose
    job.expect_one_line(f"place {last} ended before the others", "exit(0)")

    job = Job(*command, "exits_3")
    expect(job.status != 0, "the exit status is not 0", job)
    job.expect_one_line(f"place {last} ended before the others", "exit(3)")

    job = Job(*command, "has_child")
    expect(job.status == 0 and not job.own_lines, "a child of a place may exit", job)
    expect(FINAL_LINE in job.out, "all places have got past the last barrier", job)

    job = Job(*command, "is_killed")
    expect(job.status != 0, "the exit status is not 0", job)
    expect(FINAL_LINE not in job.out, "no place has got past the last barrier", job)
    # Nobody but the launcher is left to say it: Open MPI's names the place, MPICH's the process.
    expect(f"rank {last}" in job.err or "signal 9" in job.out, "the launcher says who was killed", job)

    for how, *words in [
        ("is_missing_in_finish", "place 3 has ended its main function, but place 1 calls finish_spmd"),
        ("is_alone_in_finish", "place 3 calls finish_spmd, but place 1", "has ended its main function"),
        ("is_missing_in_reduction", "has ended its main function", "calls all_reduce with a value of 4 bytes"),
        ("is_alone_in_reduction", "has ended its main function", "calls all_reduce with a value of 4 bytes"),
    ]:
        job = Job(*command, how)
        expect(job.status != 0, "the exit status is not 0", job)
        expect(job.own_lines, "filch says what is wrong", job)
        for word in words:
            expect(word in job.own_lines[0], f"it says '{word}'", job)
        expect(FINAL_LINE not in job.out, "no place has got past the last barrier", job)

    Job(*command, "returns", FILCH_PLACES_BOARD="blackboard").expect_refused("FILCH_PLACES_BOARD='blackboard'", "shared, rma or messages")


def differs(mpirun, program, other):
    job = Job(mpirun, "-n", "2", program, "end", "returns", ":", "-n", "2", other)
    job.expect_refused("place 2", "the program is of another build")


def policies(mpirun, program):
    """Each place has an environment of its own."""
    one = ["-n", "2", "env", "FILCH_PLACES_POLICY=success_only", program, "end", "returns"]
    other = ["-n", "2", "env", "FILCH_PLACES_POLICY=lifeline", program, "end", "returns"]
    Job(mpirun, *one, ":", *other).expect_refused("place 2", "'lifeline'", "'success_only' at place 0")


def alone(mpirun, program):
    job = Job(program, "end", "returns")
    expect(job.status == 0, "the exit status is 0", job)
    expect(job.out == f"1 places, MPI is not running\n{FINAL_LINE}\n", "there is one place, and no MPI", job)
    job = Job(program, "end", "exits_3")
    expect(job.status == 3 and not job.err, "one place may exit as it likes", job)
    for places in 1, PLACES:
        job = Job(mpirun, "-n", str(places), program, "end", "returns")
        expect(job.status == 0, "the exit status is 0", job)
        expect(job.out == f"{places} places, MPI is running\n{FINAL_LINE}\n", "all places are there", job)
    for launcher in [], [mpirun, "-n", "1"]:
        job = Job(*launcher, program, "begun")
        expect(job.status == 0 and job.out == "1 places\n", "one place needs no threads of MPI's", job)
    Job(mpirun, "-n", str(PLACES), program, "begun").expect_refused("MPI_Init_thread", "MPI_THREAD_SERIALIZED")


def wrong_launcher(mpirun, program):
    # Several processes of Open MPI that each begin alone at the same time may fail to make the folder that they share.
    with tempfile.TemporaryDirectory() as folder:
        own_folder = f'TMPDIR=$(mktemp --directory --tmpdir={folder}) exec "$@"'
        job = Job(mpirun, "-n", str(PLACES), "sh", "-c", own_folder, "sh", program, "end", "returns")
    job.expect_refused("Open MPI", "MPICH", str(PLACES), "use the mpirun of")


def workers(mpirun, program):
    def lines(*places, **environment):
        job = Job(mpirun, *places, **environment)
        expect(job.status == 0 and not job.err, "the exit status is 0", job)
        return sorted(tuple(map(int, re.findall(r"\d+", line))) for line in job.out.splitlines())

    def at(count, *bound):
        return "-n", str(count), *bound, program, "workers"

    os.environ.pop("FILCH_WORKERS", None)
    ((sharers, all_of_them),) = lines(*at(1))
    expect(sharers == 1 and 1 <= all_of_them <= len(os.sched_getaffinity(0)), "one place has all processors")
    for count in 2, 3, PLACES:
        each = count, max(all_of_them // count, 1)
        expect(lines(*at(count)) == [each] * count, f"{count} places share them")
    # A thread that communicates has a processor, too.
    dedicated = lines(*at(2), FILCH_PLACES_COMMUNICATION="dedicated")
    expect(dedicated == [(2, max(all_of_them // 2 - 1, 1))] * 2, "dedicated threads count")
    expect(lines(*at(2), FILCH_WORKERS="3") == [(2, 3)] * 2, "what is said holds")
    # Bound to processors of their own they share nothing.
    first, *others = (str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
    expect(lines(*at(2, "taskset", "-c", first)) == [(2, 1)] * 2, "two places share one processor")
    if others:
        apart = lines(*at(1, "taskset", "-c", first), ":", *at(1, "taskset", "-c", others[0]))
        expect(apart == [(1, 1)] * 2, "two places have a processor each")
        partly = lines(*at(1, "taskset", "-c", first), ":", *at(1))
        expect(partly == [(2, 1), (2, max(all_of_them // 2, 1))], "a processor is shared in part")


def records(mpirun, program):
    for variable, name, file_of in [
        ("FILCH_TRACE", "trace.json", "trace.{}.json"),
        ("FILCH_PROFILE", "a.b/page", "a.b/page.{}"),
        ("FILCH_RECORD", "schedule", "schedule.{}"),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            for places in range(1, 4):
                job = Job(mpirun, "-n", str(places), program, "end", "returns", **{variable: f"{folder}/{name}"})
                expect(job.status == 0 and not job.own_lines, "the exit status is 0", job)
                written = {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}
                wanted = {name} | ({file_of.format(place) for place in range(places)} if places > 1 else set())
                expect(written == wanted, f"of {places} places with {variable} each has a file, not {written}")
            for path in Path(folder).rglob("trace*"):
                json.loads(path.read_text())
            if variable == "FILCH_RECORD":
                (Path(folder) / "schedule.1").unlink()
                job = Job(mpirun, "-n", "2", program, "end", "returns", FILCH_REPLAY=f"{folder}/{name}")
                expect(job.status != 0, "a place has no schedule", job)
                job.expect_one_line("place 1", "schedule.1' cannot be read")


def peer(mpirun, filch, places):
    workloads = "uts_places:bin/b0=2000/q=0.1999/m=5/seed=6", "uts_places:geo/a3/d=6/b0=4/seed=19", "nqueens_places:9"
    command = [mpirun, "-n", places, filch, "bench", *workloads, "--peer", "mpi", "--workers", "1", "--repeat", "3"]
    job = Job(*command, "--json", "-")
    expect(job.status == 0, "the exit status is 0", job)
    rows = json.loads(job.out)["rows"]
    expect([row["runner"] for row in rows] == ["filch", "mpi"] * len(workloads), "each has a peer", job)
    for ours, theirs in zip(rows[::2], rows[1::2]):
        expect(ours["result"] == theirs["result"], "both have the same result", job)
        expect((theirs["workers"], theirs["places"], theirs["runs"]) == (1, int(places), 3), "the row is whole", job)
        expect(theirs["counters"] is None and theirs["settings"] is None, "filch's settings are not the peer's", job)
    for wrong in "stencil_places:256", "fib:10":
        job = Job(mpirun, "-n", places, filch, "bench", wrong, "--peer", "mpi")
        expect(job.status == 2 and "--peer 'mpi' does not run workload" in job.err, "it is refused", job)


CASES = {case.__name__: case for case in (works, tasks, fails, differs, policies, alone, wrong_launcher, workers, records, peer)}

if __name__ == "__main__":
    CASES[sys.argv[1]](*sys.argv[2:])
