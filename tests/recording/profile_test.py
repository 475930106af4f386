#!/usr/bin/env python3
"""Checks the profiles of programs whose tasks are known. Times are compared with each other only: they are sums of the same strands.

    profile_test.py [EMULATOR...] PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ENDS = {-1: -2, -3: -4, -5: -6}
RUN = -7


def expect(so: bool, what: str) -> None:
    if not so:
        sys.exit(f"not so: {what}")


def profile(program: list, name: str) -> dict:
    """What the page has, when its graph is well-formed."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        finished = subprocess.run([*program, name], env={**os.environ, "FILCH_PROFILE": str(page)}, capture_output=True, text=True, check=False)
        # A sanitizer may have something to say of a child that exits beside its parent's threads.
        expect(finished.returncode == 0 and "filch:" not in finished.stderr, f"{name} runs: {finished}")
        text = page.read_text(encoding="utf-8")
    begin = text.index('type="application/json">') + len('type="application/json">')
    found = json.loads(text[begin : text.index("</script>", begin)])
    open_tokens, time, i = [], 0, 0
    graph = found["graph"]
    while i < len(graph):
        if graph[i] == RUN:
            expect(graph[i + 1] > 0, f"{name}: a run has iterations")
            time += graph[i + 2]
            i += 2
        elif graph[i] >= 0:
            time += graph[i]
        elif graph[i] in ENDS:
            open_tokens.append(ENDS[graph[i]])
        else:
            expect(open_tokens and open_tokens.pop() == graph[i], f"{name}: what begins in the graph ends there")
        i += 1
    expect(not open_tokens, f"{name}: what begins in the graph ends there")
    expect(time == found["work_ns"], f"{name}: the graph has all of the work, {found['work_ns']} ns, and not {time}")
    expect(0 < found["span_ns"] <= found["work_ns"], f"{name}: the span is a part of the work")
    return found


def expect_once(program: list, name: str, condition, what: str) -> None:
    """Short interruptions are part of a chain: in one of many runs there are few."""
    if not any(condition(profile(program, name)) for _ in range(30)):
        sys.exit(f"not so, in 30 runs: {name}: {what}")


def main() -> None:
    program = sys.argv[1:]

    # A call of fib(n) forks twice, if n > 1; the second branch is run by the forking task itself.
    def forks(n: int) -> int:
        return 0 if n < 2 else 1 + forks(n - 1) + forks(n - 2)

    fib = profile(program, "fib")
    expect(fib["tasks"] == forks(12), f"fib(12) forks {forks(12)} times, not {fib['tasks']}")
    expect(fib["forks"] == 11, f"fib(12) forks 11 times in a chain, not {fib['forks']}")

    chain = profile(program, "chain")
    expect(chain["tasks"] == 50, "a chain of 50 tasks")
    expect(chain["forks"] == 50, f"which is 50 forks in a chain, not {chain['forks']}")
    # Each link goes on a little beside the next one.
    expect_once(program, "chain", lambda p: p["span_ns"] > 0.9 * p["work_ns"], "a chain's span is its work")
    expect_once(program, "chain", lambda p: "longest chain" in p["advice"][0], "advice on chains")

    for name in ("group", "heap_group"):
        group = profile(program, name)
        expect(group["tasks"] == 32, f"{name}: 32 tasks")
        expect(group["forks"] == 32, f"{name}: 32 forks before what follows the last one, not {group['forks']}")
        expect(group["span_ns"] >= group["work_ns"] / 33, f"{name}: no more parallelism than tasks")
        expect_once(program, name, lambda p: p["span_ns"] < p["work_ns"] / 8, "tasks are parallel")
    # Of a group that a thread outside fills, with nobody's tasks around.
    for name in ("outside_group", "outside_heap_group", "outside_threads"):
        group = profile(program, name)
        expect(group["tasks"] == 32, f"{name}: 32 tasks")
        expect(group["forks"] == 32, f"{name}: 32 forks, not {group['forks']}")
        expect(group["span_ns"] >= group["work_ns"] / 33, f"{name}: no more parallelism than tasks")
        expect_once(program, name, lambda p: p["span_ns"] < p["work_ns"] / 8, "tasks are parallel")
    for name in ("wide_tasks", "heap_wide_tasks", "outside_wide_tasks"):
        wide = profile(program, name)
        loops = [(each["calls"], each["iterations"]) for each in wide["loops"]]
        expect(wide["tasks"] == 8 and loops == [(4, 32)], f"{name}: a fork and a loop in each of four tasks: {wide['tasks']} tasks, loops {loops}")
        # Each task is a fork of one and a loop of one: a twentieth.
        expect_once(program, name, lambda p: 12 < p["work_ns"] / p["span_ns"] < 21, "what is in tasks is parallel")
    expect(profile(program, "outside_groups")["span_ns"] >= profile(program, "outside_groups")["work_ns"] / 10, "groups one after the other")
    expect_once(program, "outside_groups", lambda p: 4 <= p["work_ns"] / p["span_ns"] <= 9, "four groups of eight, one after the other")
    expect_once(program, "outside_chain", lambda p: 1.2 < p["work_ns"] / p["span_ns"] < 1.6, "a task that adds one, and another: two of three in a chain")
    expect(profile(program, "outside_throws")["tasks"] == 37, "a group that is used again after an error")

    # 500 calls, each of which is a root: what is done to measure them is no time of the program's.
    expect_once(program, "outside_loops", lambda p: p["outside_ns"] < p["work_ns"] / 8, "a loop in main has next to nothing outside of tasks")
    expect_once(program, "outside_loops", lambda p: not any("outside of tasks" in line for line in p["advice"]), "no advice on it")

    # Whoever takes the place of a blocked worker does nothing in these programs.
    expect_once(program, "blocked", lambda p: p["work_ns"] / p["span_ns"] > 1.8, "two blocked branches are parallel, and nothing comes beside them")
    for _ in range(10):
        expect(profile(program, "outside_blocked")["tasks"] == 0, "a spare thread is no call that has not ended")
    for name in ("outside_spare", "released"):
        found = profile(program, name)
        parts = [(each["name"], each["calls"]) for each in found["named"]]
        expect(found["tasks"] == 1 and parts == [("released", 1)], f"{name}: what another thread runs is in the profile: {found['tasks']} tasks, {parts}")

    for name in ("graph_long_first", "graph_long_last"):
        graph = profile(program, name)
        expect(graph["span_ns"] > 0.8 * graph["work_ns"], f"{name}: the long ones are a chain: {graph['span_ns']} of {graph['work_ns']}")

    other = profile(program, "other_scheduler")
    expect([(each["calls"], each["iterations"]) for each in other["loops"]] == [(1, 64)], f"a loop of another scheduler: {other['loops']}")
    # The other scheduler's start and end, a millisecond under a sanitizer, are part of the chain.
    expect_once(
        program, "other_scheduler", lambda p: p["work_ns"] - p["span_ns"] > p["loops"][0]["work_ns"] * 7 / 8, "whose iterations are parallel"
    )

    leaves = profile(program, "group")["named"]
    expect([(each["name"], each["calls"]) for each in leaves] == [("leaf", 32)], f"named parts: {leaves}")

    loop = profile(program, "loop")
    expect([(each["calls"], each["iterations"]) for each in loop["loops"]] == [(1, 64)], f"a loop of 64: {loop['loops']}")
    expect(loop["forks"] == 6, f"64 iterations are halved until there is one, which is six forks, not {loop['forks']}")
    expect_once(program, "loop", lambda p: p["span_ns"] < p["work_ns"] / 8, "iterations are parallel")
    expect_once(program, "loop", lambda p: p["loops"][0]["span_ns"] < p["loops"][0]["work_ns"] / 8, "the loop's own span is that of an iteration")

    # 60 iterations in grains of 16: four parts.
    for name in ("loop_grain", "range_grain", "rows_grain"):
        grain = profile(program, name)
        expect([(each["calls"], each["iterations"]) for each in grain["loops"]] == [(1, 60)], f"{name}: a loop of 60: {grain['loops']}")
        expect(grain["forks"] == 2, f"{name}: four parts are two forks, not {grain['forks']}")
        expect(grain["span_ns"] >= grain["work_ns"] / 4.01, f"{name}: no more parallelism than parts: {grain['span_ns']} of {grain['work_ns']}")
        graph = grain["graph"]
        parts = sum(graph[i + 1] for i in range(len(graph)) if graph[i] == RUN)
        expect(parts == 4, f"{name}: four parts in the graph, not {parts}")
        expect_once(program, name, lambda p: p["span_ns"] < p["work_ns"] / 3, "parts are parallel")

    # Two calls of a part in each of two threads' runs.
    wide = profile(program, "wide_parts")
    expect([(each["name"], each["calls"]) for each in wide["named"]] == [("wide", 4)], f"named parts: {wide['named']}")
    expect(wide["forks"] == 32, f"the forks of one run are in a chain: 32, not {wide['forks']}")
    expect(wide["named"][0]["span_ns"] >= wide["named"][0]["work_ns"] / 17, "named parts: no more parallelism than tasks")
    expect_once(program, "wide_parts", lambda p: p["named"][0]["span_ns"] < p["named"][0]["work_ns"] / 4, "a named part's span is that of its longest task")

    # Trees of 32 leaves, one after the other: of calls inside of each other the outermost has the time.
    for name, kind, calls in (("named_tree", "named", 2 * 63), ("loop_tree", "loops", 2 * 31)):
        tree = profile(program, name)
        [part] = tree[kind]
        expect(part["calls"] == calls, f"{name}: {calls} calls, not {part['calls']}")
        expect(part["work_ns"] <= tree["work_ns"], f"{name}: a part has no more than all of the work: {part} of {tree['work_ns']}")
        expect(part["span_ns"] <= tree["span_ns"], f"{name}: nor of the span: {part} of {tree['span_ns']}")
        expect_once(program, name, lambda p: p[kind][0]["work_ns"] > 0.9 * p["work_ns"], "the part has all of the work")
        expect_once(program, name, lambda p: p[kind][0]["work_ns"] > 16 * p[kind][0]["span_ns"], "leaves are parallel")

    short = profile(program, "short_loops")
    expect([(each["calls"], each["iterations"]) for each in short["loops"]] == [(2000, 4000)], f"2000 loops: {short['loops']}")
    expect_once(program, "short_loops", lambda p: any("too short to share" in line for line in p["advice"]), "advice on short loops")

    nested = profile(program, "nested")
    expect(sorted((each["calls"], each["iterations"]) for each in nested["loops"]) == [(1, 16), (16, 64)], f"loops in a loop: {nested['loops']}")
    expect(nested["tasks"] == 16, f"a fork in each iteration: {nested['tasks']}")
    # Of 16 iterations with a loop of four and a fork of two one after the other: 48 at most.
    expect_once(program, "nested", lambda p: p["work_ns"] / 60 < p["span_ns"] < p["work_ns"] / 20, "both levels are parallel")

    [reduction] = profile(program, "reduce")["loops"]
    expect(not reduction["name"].startswith("const"), f"a function is named without the const of a lambda in it: {reduction}")
    profile(program, "throws")
    names = {part["name"] for part in profile(program, "names")["named"]}
    expect(names == {"caf\u00e9", "caf\ufffd"}, f"names are UTF-8, and what is not is replaced: {names!a}")
    expect(profile(program, "forks")["tasks"] == 1, "a child that exits leaves its parent's profile alone")
    expect(profile(program, "submitted")["work_ns"] > 0, "submitted tasks are part of who submits")

    with tempfile.TemporaryDirectory() as folder:
        exits = subprocess.run([*program, "exits"], env={**os.environ, "FILCH_PROFILE": f"{folder}/page"}, capture_output=True, text=True, check=False)
        expect("(calls of run and tasks: 1)" in exits.stderr, f"what is not in a profile is said: {exits.stderr}")

    for variable in ("FILCH_PROFILE", "FILCH_RECORD"):
        with tempfile.TemporaryDirectory() as folder:
            both = {variable: f"{folder}/both", "FILCH_TRACE": f"{folder}/./both"}
            refused = subprocess.run([*program, "fib"], env={**os.environ, **both}, capture_output=True, text=True, check=False)
            expect(refused.returncode != 0 and "name another file" in refused.stderr, f"two results in one file: {refused.stderr}")

    refused = subprocess.run([*program, "fib"], env={**os.environ, "FILCH_PROFILE": "/nowhere/page.html"}, capture_output=True, text=True, check=False)
    expect(refused.returncode != 0 and "FILCH_PROFILE '/nowhere/page.html' cannot be written" in refused.stderr, f"a bad path: {refused.stderr}")


if __name__ == "__main__":
    main()
