"""What gdb shows of a program that uses filch: docs/debugging.md.

filch workers   what each worker does
filch bt        a backtrace that goes on where the task was made, across threads
and printers for workers and for the slots of their task stacks.

Needs debugging information of libfilch's worker.cpp, which every build has unless it is stripped, and of the program for
its own lines. Everything is read from memory, so core files work as well.
"""
import re

import gdb
import gdb.printing

DETAIL = "filch::detail::"
# Of task_state (src/worker/task_state.hpp).
THIEF_SHIFT = 4
STATUS_MASK = 7
STATUSES = ["pending", "taken", "batched", "reclaimed", "done", "failed", "offered", "given"]
MOST_SLOTS = 8  # of a worker that are printed


# Values.


def plain(value):
    """The scalar inside of an atomic, a platform::shared or a platform::local."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        fields = [f for f in value.type.strip_typedefs().fields() if not hasattr(f, "enumval") and hasattr(f, "bitpos")]
        value = value[fields[0]]
    return value


def number(value):
    return int(plain(value))


def pointee(value):
    """What a pointer, perhaps in an atomic, points to; None: it is null."""
    pointer = plain(value)
    return pointer.dereference() if int(pointer) else None


def owned(value):
    """What a unique_ptr points to."""
    return pointee(value)


def type_of(name):
    try:
        return gdb.lookup_type(DETAIL + name)
    except gdb.error:
        raise gdb.GdbError(
            "filch: no debugging information of libfilch; it is stripped, or the program does not use filch"
        ) from None


def address(value):
    return int(value.address)


# Names.


def without_templates(name):
    """A function's name without template arguments, parameters and return type."""
    name = name.replace("operator()", "operator_call").replace("operator<", "operator_less")
    text, depth = "", 0
    for c in name:
        if c in "<([{":
            depth += 1
        elif c in ">)]}":
            depth = max(0, depth - 1)
        elif depth == 0:
            text += c
    return text.replace("operator_call", "operator()").replace(" const", "").strip().split(" ")[-1]


def user_callable(name):
    """Of the function of a task, such as filch::detail::branch_in_slot<work(int)::{lambda()#1}>::run, the callable."""
    found = re.search(r"<(.*)>::run", name)
    if not found:
        return name
    text = found.group(1).strip()
    while text.startswith("filch::"):  # a wrapper of the library's, whose first argument is the callable
        inner = re.search(r"<(.*)>", text)
        if not inner:
            break
        text = inner.group(1).strip()
    return text


def function_at(pointer):
    """The name of the function that a pointer to one points to; None: of none."""
    if not int(pointer):
        return None
    block, function = gdb.block_for_pc(int(pointer)), None
    while block is not None and not block.is_static:
        function = block.function or function  # not one that is inlined into it
        block = block.superblock
    if function is not None:
        return str(function)
    text = str(pointer.cast(gdb.lookup_type("void").pointer()))
    found = re.search(r"<(.*?)(\+\d+)?>$", text)
    return found.group(1) if found else None


# Functions of tasks that are no program's callable.
KINDS = {
    "run_joined": "(joined)",
    "run_in_use": "(in use)",
    "run_given_away": "(given away)",
    "run_stolen_piece": "part of a loop",
}


def task_name(t):
    name = function_at(plain(t["run"]))
    if name is None:
        return "?"
    for known, meaning in KINDS.items():
        if name.startswith(DETAIL + known):
            return meaning
    return user_callable(name)


def status_of(t):
    return STATUSES[number(t["state"]) & STATUS_MASK]


# Workers.


class Worker:
    def __init__(self, value, thread=None):
        self.value = value
        self.thread = thread
        self.number = int(value["number"])

    @property
    def address(self):
        return address(self.value)

    def running(self):
        """The tasks that it has taken and is in the middle of, innermost first: the records on its C++ stack."""
        record = pointee(self.value["innermost_"])
        while record is not None:
            yield record
            record = pointee(record["outer"])

    def tasks(self):
        """Slots on its stack, and how many of them are offered."""
        base = int(self.value["base"])
        size = type_of("slot").sizeof
        return (number(self.value["head"]) - base) // size, max(0, (number(self.value["split"]) - base) // size)

    def slots(self):
        count, offered = self.tasks()
        for i in range(count):
            yield self.value["base"][i], i < offered

    def named(self):
        return "worker %d" % self.number + (" (thread %d)" % self.thread.num if self.thread else "")

    def doing(self):
        v = self.value
        task = next(self.running(), None)
        inside = "its root" if task is None else running_name(task)
        if self.thread is None:
            return "no thread"
        if number(v["wait"]["dozing"]):
            return "waits, asleep, in " + inside
        if number(v["counted"]["waiting"]["lasts_"]):
            return "waits in " + inside
        sleep = str(plain(v["sleep"]["state"]))
        if task is None and (sleep.endswith("asleep") or sleep.endswith("claimed")):
            return "asleep"
        if number(v["counted"]["idle"]["lasts_"]):
            return "searches for work"
        return "runs " + inside


def running_name(record):
    owner = pointee(record["owner"])
    if owner is None:
        return "a queued task"
    return "%s of worker %d" % (task_name(record["t"].dereference()), int(owner["number"]))


def current_worker():
    """The worker that the selected thread is at present; None: none."""
    type_of("worker")
    try:
        core = gdb.parse_and_eval("'filch::detail::self'")
    except gdb.error as problem:
        raise gdb.GdbError("filch: cannot read the thread's own variables: %s" % problem)
    if int(core) in (0, int(gdb.parse_and_eval("&'filch::detail::foreign_worker'"))):
        return None
    return core.cast(type_of("worker").pointer()).dereference()


class Everybody:
    """The workers of all schedulers of which any worker has a thread."""

    def __init__(self):
        self.of_address = {}
        self.teams = {}
        here = gdb.selected_thread()
        if here is None:
            raise gdb.GdbError("filch: the program does not run")
        frame = gdb.selected_frame()
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
            thread.switch()
            value = current_worker()
            while value is not None:
                self.add(value, thread)
                value = pointee(value["outer"])
        here.switch()
        frame.select()

    def add(self, value, thread):
        team = value["common"]["team"].referenced_value()
        if address(team) not in self.teams:
            members = []
            for i in range(number(team["most_"])):
                w = Worker(team["workers_"][i].dereference())
                self.of_address[w.address] = w
                members.append(w)
            self.teams[address(team)] = members
        self.of_address[address(value)].thread = thread


def policy_of(w):
    view = w.value["common"]["policy_name"]
    return view["_M_str"].string(length=int(view["_M_len"]))


# Printers.


class WorkerPrinter:
    def __init__(self, value):
        self.worker = Worker(value)

    def to_string(self):
        count, offered = self.worker.tasks()
        return "worker %d, %d tasks, %d offered" % (self.worker.number, count, offered)

    def children(self):
        for i, (s, offered) in enumerate(self.worker.slots()):
            if i == MOST_SLOTS:
                yield "...", "further ones"
                return
            yield "[%d]" % i, ("offered, " + status_of(s) + ": " if offered else "") + task_name(s)


class SlotPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "task " + task_name(self.value)


# Backtraces.


# Functions of the library that a program calls.
CONSTRUCTS = re.compile(
    r"^filch::(fork_join|parallel_\w+|for_each_dynamic|adaptive|pipeline|scheduler::(run|submit)|"
    r"task_group::(run|wait)|task_graph::run|repeated::run|future::(get|wait)|places::\w+)$"
)
PLUMBING = re.compile(r"^(std::|__gnu_cxx::|start_thread|clone|__clone|syscall|__libc_start|_start$)")


def name_of(frame):
    name = frame.name() or "??"
    if not name.startswith("operator()"):
        return name
    # A lambda. What contains it is known by the linker's symbol, which inlined ones have not.
    where = frame.find_sal()
    if where.symtab and "/include/filch/" in where.symtab.fullname():
        return "filch::detail::lambda"
    if frame.type() == gdb.INLINE_FRAME:
        return "a lambda"
    text = gdb.execute("info symbol %d" % frame.pc(), to_string=True)
    found = re.match(r"(.*)::operator\(\)\(.*\)( const)?( \+ \d+)? in section", text)
    return found.group(1) if found else "a lambda"


class Level:
    """One frame of a C++ stack, and where it lies."""

    def __init__(self, frame):
        self.frame = frame
        self.full_name = name_of(frame)
        self.name = without_templates(self.full_name)
        self.pointer = int(frame.read_register("sp"))

    def is_internal(self):
        return self.name.startswith("filch::") or PLUMBING.match(self.name) is not None

    def is_construct(self):
        return CONSTRUCTS.match(self.name) is not None

    def text(self):
        if self.is_construct():
            return self.name
        where = self.frame.find_sal()
        line = " at %s:%d" % (where.symtab.filename.split("/")[-1], where.line) if where.symtab else ""
        return self.full_name + self.arguments() + line

    def arguments(self):
        function = self.frame.function()
        if function is None:
            return ""
        shown = []
        block = self.frame.block()
        while block is not None and block.function is None:
            block = block.superblock
        for symbol in block or ():
            if not symbol.is_argument or symbol.name in (None, "this", "__closure"):
                continue
            try:
                shown.append("%s=%s" % (symbol.name, symbol.value(self.frame).format_string(summary=True)))
            except (gdb.error, gdb.MemoryError):
                shown.append(symbol.name + "=?")
        return " (%s)" % ", ".join(shown) if shown else ""

    def holds(self, symbol_name, wanted):
        """Has the frame a variable of that name that is, or points to, that address?"""
        try:
            value = self.frame.read_var(symbol_name)
            if value.type.code == gdb.TYPE_CODE_REF:
                value = value.referenced_value().address
            return int(value) == wanted
        except (ValueError, gdb.error, gdb.MemoryError):
            return False


def levels_of(thread):
    thread.switch()
    frame = gdb.newest_frame()
    all_of = []
    while frame is not None:
        all_of.append(Level(frame))
        frame = frame.older()
    return all_of


def level_with(levels, at):
    """The first level whose part of the stack has that address; None: it is not on the stack. Frames that were inlined
    have the stack pointer of the one that they are in."""
    if at < levels[0].pointer:
        return None
    for i, level in enumerate(levels):
        outer = next((l.pointer for l in levels[i:] if l.pointer > level.pointer), None)
        if outer is None:
            return None
        if level.pointer <= at < outer:
            return i
    return None


def construct_of(levels, record, owner):
    """Where the owner made the task, or waits for it: (index of a level, whether that is known)."""
    task = record["t"].dereference()
    at = address(task)
    name = function_at(plain(task["run"])) or ""
    base, end = int(owner.value["base"]), int(owner.value["end"])
    # The outermost that knows the slot: below it are the parts of the join.
    knows = [i for i, level in enumerate(levels) if level.holds("s", at)]
    if knows:
        return knows[-1], True
    if base <= at < end and ("branch_in_frame" in name or "task_group::" in name or "filch::task_group" in name):
        slot = task.cast(type_of("slot"))
        found = level_with(levels, number(slot["context"]))
        if found is not None:
            return found, True
    if not base <= at < end:  # a piece of a loop, or of a bag
        piece = task.cast(type_of("piece"))
        share = pointee(owner.value["loops"]["innermost"])
        while share is not None:
            found = level_with(levels, address(share))
            if int(share["number"]) == number(piece["number"]) and found is not None:
                return found, True
            share = pointee(share["outer"])
    # Not known: from the newest of the program's own functions, if it waits, else all.
    return next((i for i, level in enumerate(levels) if level.name.startswith(DETAIL + "wait_for")), 0), False


class Backtrace:
    MOST_SWITCHES = 1000

    def __init__(self):
        self.everybody = Everybody()
        self.index = 0

    def show(self):
        here, frame = gdb.selected_thread(), gdb.selected_frame()
        try:
            self.walk(here)
        finally:
            here.switch()
            frame.select()

    def walk(self, thread):
        value = current_worker()
        w = self.everybody.of_address[address(value)] if value is not None else None
        levels, first = levels_of(thread), 0
        for _ in range(self.MOST_SWITCHES):
            records = self.records(w, levels)
            after = self.print_levels(levels, first, min((i for i in records if i >= first), default=None))
            if after is None:
                return
            record = records[after]
            owner_value = pointee(record["owner"])
            name = task_name(record["t"].dereference())
            if owner_value is None:
                print("    --- a queued task, which nobody's stack has ---")
                return
            w = self.everybody.of_address[address(owner_value)]
            if w.thread is None:
                print("    --- stolen from %s, which has no thread ---" % w.named())
                return
            levels = levels_of(w.thread)
            first, known = construct_of(levels, record, w)
            where = "" if known else "; made in one of these functions"
            print("    --- %s, stolen from %s%s ---" % (name, w.named(), where))
        print("    ... and further")

    def records(self, w, levels):
        """By the level in which it lies, what the worker is in the middle of; those of outer workers as well."""
        found = {}
        while w is not None:
            for record in w.running():
                i = level_with(levels, address(record))
                if i is not None:
                    found[i] = record
            outer = pointee(w.value["outer"])
            w = self.everybody.of_address.get(address(outer)) if outer is not None else None
        return found

    def print_levels(self, levels, first, until):
        """Prints what is worth it, until the level in which a stolen task begins. Returns that; None: there is none."""
        shown = None
        for i in range(first, len(levels)):
            if i == until:
                return until
            level = levels[i]
            if level.is_internal() and (not level.is_construct() or level.name == shown):
                continue
            shown = level.name
            print("#%-3d %s" % (self.index, level.text()))
            self.index += 1
        return None


# Commands.


class FilchCommand(gdb.Command):
    """What filch's workers do. See: help filch workers, help filch bt."""

    def __init__(self):
        super().__init__("filch", gdb.COMMAND_STACK, prefix=True)


class WorkersCommand(gdb.Command):
    """One line for each worker: its thread, its tasks, how many of these other workers can see, and what it does."""

    def __init__(self):
        super().__init__("filch workers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("filch workers: unknown argument '%s'; there are none" % argument)
        everybody = Everybody()
        if not everybody.teams:
            print("No thread is a worker at present.")
        for members in everybody.teams.values():
            print("scheduler, policy %s, %d workers" % (policy_of(members[0]), len(members)))
            for w in members:
                count, offered = w.tasks()
                thread = "thread %d" % w.thread.num if w.thread else "-"
                print("  worker %-3d %-10s %4d tasks, %4d offered  %s" % (w.number, thread, count, offered, w.doing()))


class BacktraceCommand(gdb.Command):
    """The functions that the selected thread is in, without filch's own; where a task was stolen it goes on in the
    thread that made it."""

    def __init__(self):
        super().__init__("filch bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("filch bt: unknown argument '%s'; there are none" % argument)
        Backtrace().show()


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("filch")
    printers.add_printer("worker", "^filch::detail::worker$", WorkerPrinter)
    printers.add_printer("slot", "^filch::detail::slot$", SlotPrinter)
    gdb.printing.register_pretty_printer(None, printers, replace=True)
    FilchCommand()
    WorkersCommand()
    BacktraceCommand()


register()
