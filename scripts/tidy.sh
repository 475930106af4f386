#!/usr/bin/env bash
# Runs clang-tidy over the sources of the library, the benchmarks and the tools, as compiled in a build directory that
# has a compile_commands.json. Exit status 1 if there is a finding.
#
#   scripts/tidy.sh [BUILD_DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
if [[ ! -f $build/compile_commands.json ]]; then
  echo "tidy.sh: '$build' has no compile_commands.json; run 'cmake --preset release' first" >&2
  exit 2
fi

# A source that is compiled for the virtual machine as well is looked at once.
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT
python3 - "$build/compile_commands.json" "$once/compile_commands.json" <<'END'
import json, sys
commands = {}
for command in json.load(open(sys.argv[1])):
    commands.setdefault(command["file"], command)
json.dump(list(commands.values()), open(sys.argv[2], "w"))
END

# The commands are those of g++, so clang is told to pass over options that it does not know. What it says about its
# number of hidden warnings in system headers is of no use to anybody.
run-clang-tidy-19 -quiet -j "$(nproc)" -p "$once" -extra-arg=-Wno-unknown-warning-option \
  "^$PWD/(src|bench|tools)/.*\.cpp$" \
  2> >(grep --invert-match ' warnings\? generated\.$' >&2)
