#!/usr/bin/env python3
"""Checks the rules of the sources that no compiler checks.

  layers      A file under src/ includes files of its own folder and of earlier layers only:
              platform < vm, deque < worker < victim, join, loop < policy < scheduler < places. Folders of one layer do
              not include one another. trace may be included by all of them and includes platform only.
  public      A header under include/filch includes the standard library, other headers of filch and two headers of
              platform: memory.hpp, ticks.hpp and work.hpp; one that adapts another library, by its name, that library's
              too (ADAPTERS). bench, tools and examples use the headers in include/filch, without
              filch/detail.
  conditions  Conditional compilation only in src/platform, src/vm and include/filch/config.hpp.
  fences      No stand-alone memory fences: ThreadSanitizer and the explorer do not see through them.
  orders      Every operation on an atomic object in src/ and include/ names its memory order. (Not in the virtual
              machine, which is what such operations are made of. Objects of the types in
              ORDER_INSIDE have load and store as well, which name it themselves or need none.)

Prints one line per violation, "FILE:LINE: RULE: what is wrong and what to do", and exits with 1 if there is one.

  check_includes.py [ROOT]      ROOT: of the source tree; default: the one this script is in
"""

import argparse
import re
import sys
from pathlib import Path

LAYER = {
    "platform": 0,
    "vm": 1,
    "deque": 1,
    "worker": 2,
    "victim": 3,
    "join": 3,
    "loop": 3,
    "policy": 4,
    "scheduler": 5,
    "places": 6,
}
TRACE = "trace"
USERS = ("bench", "tools", "examples")  # of the library: they know its public headers only
PUBLIC_OF_PLATFORM = ("memory.hpp", "ticks.hpp", "work.hpp")
ADAPTERS = {"include/filch/places_cereal.hpp": "cereal/"}  # who does not include them does not need the library
TREES = ("include", "src", "tests") + USERS
SUFFIXES = {".hpp", ".cpp", ".h"}

COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | (?P<literal> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )""", re.DOTALL | re.VERBOSE
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<(?P<angle>[^>]+)>|"(?P<quote>[^"]+)")', re.MULTILINE)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else)\b", re.MULTILINE)
FENCE = re.compile(r"\batomic_thread_fence\b|\b__sync_synchronize\b|\b__atomic_thread_fence\b")
ORDER_INSIDE = ("(?:platform::)?local(?=<)", "(?:platform::)?shared(?=<)", "split_deque")
DECLARATION_WITH_ORDER_INSIDE = re.compile(
    rf"\b(?:{'|'.join(ORDER_INSIDE)})\b\s*(?:<[^;={{}}()]*>)?\s*&?\s*(?P<name>\w+)\s*[;{{=,\[]"
)
ATOMIC_CALL = re.compile(
    r"(?P<object>\w*)(?:\[[^\]]*\])?\s*(?:\.|->)\s*(?P<name>load|store|exchange|compare_exchange_(?:weak|strong)|fetch_(?:add|sub|and|or|xor)"
    r"|test_and_set)\s*\("
)
ORDER = re.compile(r"\b(?:\w*_)?(?:order|relaxed|acquire|release|acq_rel|seq_cst)(?:_\w+)?\b")
STANDARD_HEADER = re.compile(r"[a-z_0-9]+")


def without_comments(text):
    """The text with comments blanked; line numbers stay."""

    def blank(match):
        return match.group() if match.group("literal") else re.sub(r"[^\n]", " ", match.group())

    return COMMENT_OR_LITERAL.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def arguments_at(text, open_parenthesis):
    """What stands between a parenthesis and the one that closes it."""
    depth = 0
    for position in range(open_parenthesis, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[open_parenthesis + 1 : position]
    return text[open_parenthesis + 1 :]


class Source:
    """One file of the tree and what it includes."""

    def __init__(self, root, path):
        self.root = root.resolve()
        self.path = path.resolve().relative_to(self.root)
        self.text = without_comments(path.read_text(encoding="utf-8"))

    def tree(self):
        return self.path.parts[0]

    def folder(self):
        """The folder under src/ that a file of the library belongs to, or None."""
        return self.path.parts[1] if self.tree() == "src" and len(self.path.parts) > 2 else None

    def includes(self):
        """Yields (line, name, folder under src/ that the included file is in, or None)."""
        for match in INCLUDE.finditer(self.text):
            name = match.group("angle") or match.group("quote")
            yield line_of(self.text, match.start()), name, self.folder_of_include(name, match.group("quote") is not None)

    def folder_of_include(self, name, quoted):
        source_root = self.root / "src"
        beside = [self.root / self.path.parent] if quoted else []
        for start in beside + [source_root, source_root / "platform" / "native"]:
            target = (start / name).resolve()
            if target.is_file() and target.is_relative_to(source_root):
                return target.relative_to(source_root).parts[0]
        return None


def names_with_order_inside(sources):
    """Names of the objects that look like atomics in a call but have no order to be named."""
    return {match.group("name") for source in sources for match in DECLARATION_WITH_ORDER_INSIDE.finditer(source.text)}


def check_layers(source):
    own = source.folder()
    if own is None:
        return
    if own not in LAYER and own != TRACE:
        yield 1, f"folder 'src/{own}' has no layer; add it to LAYER in scripts/check_includes.py"
        return
    for line, name, other in source.includes():
        if other is None or other == own:
            continue
        if own == TRACE:
            if other != "platform":
                yield line, f"trace includes '{name}' of {other}; it may include platform only"
        elif other != TRACE and LAYER.get(other, len(LAYER)) >= LAYER[own]:
            yield line, f"{own} includes '{name}' of {other}, which is no earlier layer; turn the dependency around"


def check_public(source):
    if source.tree() == "include":
        for line, name, folder in source.includes():
            if name.startswith("filch/") and (source.root / "include" / name).is_file():
                continue
            if folder == "platform" and Path(name).name in PUBLIC_OF_PLATFORM:
                continue
            adapted = ADAPTERS.get(source.path.as_posix())
            if not STANDARD_HEADER.fullmatch(name) and not (adapted and name.startswith(adapted)):
                yield line, f"a public header includes '{name}'; use the standard library and <filch/...> only"
    elif source.tree() in USERS:
        for line, name, folder in source.includes():
            if folder is not None or name.startswith("filch/detail/"):
                yield line, f"{source.tree()} includes '{name}', which is internal; use a public header <filch/...>"


def check_conditions(source):
    if source.folder() in ("platform", "vm") or source.path == Path("include/filch/config.hpp"):
        return
    for match in CONDITION.finditer(source.text):
        yield line_of(source.text, match.start()), (
            f"'#{match.group('word')}' outside src/platform, src/vm and include/filch/config.hpp; "
            "select a source file in CMake instead"
        )


def check_fences(source):
    for match in FENCE.finditer(source.text):
        yield line_of(source.text, match.start()), f"'{match.group()}'; order memory by an operation on an atomic object"


def check_orders(source, exempt):
    # The virtual machine's own sources are what such an operation calls.
    if source.tree() not in ("include", "src") or source.path.is_relative_to("src/vm"):
        return
    for match in ATOMIC_CALL.finditer(source.text):
        if match.group("object") not in exempt and not ORDER.search(arguments_at(source.text, match.end() - 1)):
            yield line_of(source.text, match.start("name")), f"'{match.group('name')}' without a memory order; name it"


def violations(root):
    """All violations in a source tree, as lines of text in a fixed order."""
    files = [path for tree in sorted(TREES) for path in sorted((root / tree).rglob("*")) if path.suffix in SUFFIXES]
    sources = [Source(root, path) for path in files]
    exempt = names_with_order_inside(sources)
    rules = {
        "layers": check_layers,
        "public": check_public,
        "conditions": check_conditions,
        "fences": check_fences,
        "orders": lambda source: check_orders(source, exempt),
    }
    for source in sources:
        for rule, check in rules.items():
            for line, message in check(source):
                yield f"{source.path}:{line}: {rule}: {message}"


def main():
    parser = argparse.ArgumentParser(description="Checks layers, includes and memory orders of the sources.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    root = parser.parse_args().root
    if not (root / "src").is_dir():
        parser.error(f"'{root}' has no folder src; give the root of the source tree")
    found = list(violations(root))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
