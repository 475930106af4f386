"""Stops a program in tasks that were stolen, and checks what gdb shows with filch's commands and printers.

    gdb_test.py GDB SCRIPT PROGRAM
"""
import re
import subprocess
import sys

gdb, script, program = sys.argv[1:]

THEFT = r"    --- \S.*%s.*, stolen from worker \d+ \(thread \d+\) ---"

# What is expected at each stop, line by line; other lines may lie in between.
STOPS = [
    [
        r"scheduler, policy standard, 3 workers",
        r"  worker 0 +thread 1 +\d+ tasks, +\d+ offered  runs its root",
        r"#0 +inside_stolen_task \(depth=11\) at stolen\.cpp:\d+",
        THEFT % "inner_branches",
        r"#\d+ +filch::fork_join",
        r"#\d+ +\(anonymous namespace\)::inner_branches \(depth=11\) at stolen\.cpp:\d+",
        THEFT % "outer_branches",
        r"#\d+ +filch::fork_join",
        r"#\d+ +\(anonymous namespace\)::outer_branches \(depth=10\) at stolen\.cpp:\d+",
        r"#\d+ +filch::scheduler::run",
        r"#\d+ +main at stolen\.cpp:\d+",
        r"\$\d+ = worker [12], 0 tasks, 0 offered",
    ],
    [
        r"  worker \d .*runs \(anonymous namespace\)::with_group\(int\)::<lambda\(\)> of worker 0",
        r"#0 +inside_stolen_task \(depth=20\) at stolen\.cpp:\d+",
        THEFT % "with_group",
        r"#\d+ +\(anonymous namespace\)::with_group \(depth=20\) at stolen\.cpp:\d+",
        r"#\d+ +main at stolen\.cpp:\d+",
    ],
    [
        r"#0 +inside_stolen_task \(depth=30\) at stolen\.cpp:\d+",
        r"#\d+ +.*with_loop.* \(i=1\) at stolen\.cpp:\d+",
    ],
]
# Nowhere: the library's own functions.
INTERNAL = re.compile(r"^#\d+ +(filch::detail|std::)")



commands = ["set debuginfod enabled off", "source " + script, "break inside_stolen_task", "run"]
for stop in range(len(STOPS)):
    commands += ["echo == stop\\n", "filch workers", "filch bt"]
    commands += ["print *(filch::detail::worker*)'filch::detail::self'", "continue"]
commands += ["python print('commands end')", "filch workers everything"]
done = subprocess.run(
    [gdb, "--batch", "-nx"] + [word for command in commands for word in ("-ex", command)] + [program],
    capture_output=True,
    text=True,
    timeout=120,
)
text = done.stdout + done.stderr
parts = done.stdout.split("== stop\n")[1:]
problems = []
if len(parts) != len(STOPS):
    problems.append("%d stops instead of %d" % (len(parts), len(STOPS)))
for number, (part, expected) in enumerate(zip(parts, STOPS)):
    lines = iter(part.splitlines())
    for pattern in expected:
        if not any(re.match(pattern + "$", line) for line in lines):
            problems.append("stop %d: no line matches '%s' where it is expected" % (number, pattern))
            break
    problems += ["stop %d: '%s' is internal" % (number, line) for line in part.splitlines() if INTERNAL.match(line)]
if "61\n" not in done.stdout:
    problems.append("the program did not end with 61")
if "filch workers: unknown argument 'everything'" not in text:
    problems.append("no message for an unknown argument")
if problems:
    print(text)
    print("\n".join("gdb_test.py: " + problem for problem in problems), file=sys.stderr)
    sys.exit(1)
