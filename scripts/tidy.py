#!/usr/bin/env python3
"""Runs clang-tidy over the sources of the library, the benchmarks and the tools, as compiled in a build directory that
has a compile_commands.json. Exit status 1 if there is a finding.

  tidy.py [--quick] [BUILD]       BUILD: default build/release

  --quick    Sources for one platform are looked at together, each header once: most of the time goes to headers.
             Without the static analyzer (clang-analyzer-*), which looks at one main file at a time, and without
             performance-unnecessary-value-param, a fifth of the time of all other checks. Sources that
             cannot stand in one file, because both define a name of their own, go to different batches; a batch that
             does not compile all the same is looked at in two halves, with a line that says so.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREES = ("src", "bench", "tools")
PUBLIC_HEADERS = {header.stem for header in (ROOT / "include").rglob("*.hpp")}
LARGEST_BATCH = 100  # sources; so that there is work for two processors
INCLUDE = re.compile(r'^#include .*$', re.MULTILINE)
NAMESPACE = re.compile(r"^namespace (?:\w+::)+(\w+) \{", re.MULTILINE)
# Members of what a header declares cannot be defined in an inner namespace.
MEMBER_DEFINITION = re.compile(r"^[\w:[][\w:<>,&*\[\] ]*\w+::[~\w]+(?: ?=|\(|;)", re.MULTILINE)
# A batch includes sources, on purpose.
QUICK_CHECKS = "-clang-analyzer-*,-bugprone-suspicious-include,-performance-unnecessary-value-param"
# What CMake writes when it compiles sources together.
UNITY_INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)
# Names that a source defines at the left margin: types, constants, functions.
OWN_NAME = re.compile(
    r"^(?:struct|class|enum class|enum|union|concept)\s+(\w+)"
    r"|^using\s+(\w+)\s*="
    r"|^(?:static |inline )?(?:constexpr|const)\s[^=({;]*?\b(\w+)\s*(?:\[\w*\])?\s*[={]"
    r"|^[\w:[][\w:<>,&*\[\] ]*[\w>&*\]]\s+[&*]?(\w+)\(",
    re.MULTILINE,
)


def commands_of(build):
    """One compile command for each source. One that is compiled for the virtual machine as well is looked at once."""
    first = {}
    compiled = []
    for command in json.loads((build / "compile_commands.json").read_text()):
        file = Path(command["file"])
        inside = UNITY_INCLUDE.findall(file.read_text()) if file.parent.name == "Unity" else [file]
        compiled += [(Path(source).resolve(), command) for source in inside]
    for source, command in compiled:
        if source.is_relative_to(ROOT) and source.relative_to(ROOT).parts[0] in TREES and source.suffix == ".cpp":
            first.setdefault(source, command)
    return first


def flags_of(command):
    """The options of a compile command, without the source, the output and precompiled headers."""
    words = shlex.split(command["command"])
    flags = []
    skipped = {"-o": 1, "-c": 1, "-include": 1}
    position = 0
    while position < len(words):
        if words[position] in skipped:
            position += 1 + skipped[words[position]]
            continue
        if words[position] != "-Winvalid-pch":
            flags.append(words[position])
        position += 1
    return flags


def may_be_inner(source, text):
    """Can what the source defines be in an inner namespace of its own? Not if a header declares it, or if the source names
    that namespace elsewhere."""
    found = NAMESPACE.search(text)
    has_header = source.with_suffix(".hpp").exists() or source.stem in PUBLIC_HEADERS
    if found is None or has_header or MEMBER_DEFINITION.search(text):
        return False
    return f"{found[1]}::" not in text


def options_of(commands):
    """The folder and the options for each source."""
    return {source: (command["directory"], *flags_of(command)) for source, command in commands.items()}


def options_of_platforms(commands):
    """The same, with all that the sources for one platform are given, so that they can be looked at together: a header has
    one meaning on a platform. What only decides how code is generated is left out."""
    given = {}
    platforms = {}
    for source, options in options_of(commands).items():
        platform = str(ROOT / "src/vm") in " ".join(options)
        platforms[source] = given.setdefault(platform, {})
        # An include folder that is given by two words is one option.
        words = re.sub(r"(?<=-isystem) ", "\0", " ".join(options)).split(" ")
        platforms[source].update(dict.fromkeys(word for word in words if not re.match(r"-O|-g|-m|-fno-", word)))
    return {source: tuple(" ".join(words).replace("\0", " ").split(" ")) for source, words in platforms.items()}


def batches_of(options_of_sources, largest):
    """Lists of sources with equal options, as (options, [(source, can it be in an inner namespace?)]). Of the others none
    defines a name that another one of the list defines."""
    made = []  # (options, names, sources)
    for source, options in sorted(options_of_sources.items()):
        text = source.read_text()
        inner = may_be_inner(source, text)
        names = set() if inner else {name for match in OWN_NAME.findall(text) for name in match if name}
        for batch in made:
            if batch[0] == options and len(batch[2]) < largest and batch[1].isdisjoint(names):
                batch[1].update(names)
                batch[2].append((source, inner))
                break
        else:
            made.append((options, names, [(source, inner)]))
    made.sort(key=lambda batch: -len(batch[2]))  # the longest first
    return [(options, sources) for options, _, sources in made]


def batch_text(sources):
    """A file that includes the sources. Their headers come first, so that an inner namespace has nothing but the source."""
    lines = []
    for source, _ in sources:
        for include in INCLUDE.findall(source.read_text()):
            beside = source.parent / include.split('"')[1] if '"' in include else None
            lines.append(f'#include "{beside}"' if beside and beside.is_file() else include)
    lines = list(dict.fromkeys(lines))
    for number, (source, inner) in enumerate(sources):
        namespace = NAMESPACE.findall(source.read_text())[0] if inner else ""
        # The exemption is for this line, which is no source's; what the sources say is looked at as ever.
        lines += [f"#define {namespace} {namespace}::inner_{number}  // NOLINT"] if inner else []
        lines += [f'#include "{source}"']
        lines += [f"#undef {namespace}"] if inner else []
    return "\n".join(lines) + "\n"


def clang_tidy(folder, options, sources, *more):
    """Over one file that includes the sources, or over the one source itself. @return its findings, and whether clang could
    compile it."""
    file = sources[0][0]
    if len(sources) > 1:
        file = Path(folder) / f"{file.stem}_and_{len(sources) - 1}_more.cpp"
        file.write_text(batch_text(sources))
    call = ["clang-tidy-19", "-quiet", f"--config-file={ROOT / '.clang-tidy'}", *more, str(file), "--", *options[2:]]
    # The options are g++'s, so clang is told to pass over those that it does not know.
    call += ["-Wno-unknown-warning-option", "-Wno-unused-command-line-argument"]
    # In a batch names of one source may hide another's. The compiler has seen to those that hide their own.
    if len(sources) > 1:
        call.append("-Wno-shadow")
    run = subprocess.run(
        call, cwd=options[0], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    findings = run.stdout if run.returncode != 0 else ""
    return findings, "clang-diagnostic-error" not in findings


def look_at(folder, options, sources, quick):
    """Findings in the sources, as text; empty if there is none."""
    more = [f"-checks={QUICK_CHECKS}"] if quick else []
    findings, compiled = clang_tidy(folder, options, sources, *more)
    if compiled or len(sources) == 1:
        return findings
    print(f"tidy.py: {len(sources)} sources do not compile together; two halves", file=sys.stderr)
    half = len(sources) // 2
    return look_at(folder, options, sources[:half], quick) + look_at(folder, options, sources[half:], quick)


def main():
    parser = argparse.ArgumentParser(description="Runs clang-tidy over src, bench and tools.")
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build/release")
    parser.add_argument("--quick", action="store_true", help="sources together, without the static analyzer")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if not (build / "compile_commands.json").is_file():
        parser.error(f"'{arguments.build}' has no compile_commands.json; run 'cmake --preset release' first")
    commands = commands_of(build)
    if arguments.quick:
        batches = batches_of(options_of_platforms(commands), LARGEST_BATCH)
    else:
        batches = batches_of(options_of(commands), 1)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = list(pool.map(lambda batch: look_at(folder, *batch, arguments.quick), batches))
    print("".join(findings), end="")
    return 1 if any(findings) else 0


if __name__ == "__main__":
    sys.exit(main())
