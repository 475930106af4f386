#!/usr/bin/env bash
# A shared library exports what the installed headers declare, and no class of the library's own.
#
#   check_exports.sh LIBRARY INCLUDE_FOLDER [HEADER...]     HEADER: of this project's other libraries
set -euo pipefail
library=$1 headers=$2
shift 2

# Of each function "filch::detail::piece_pool::offer(...)" all parts of its name.
exported=$(nm --dynamic --demangle --defined-only "$library" | cut -d' ' -f3- | grep -oE '^filch(::~?[a-z_]+)+' | tr -s ':~' '\n' |
  sort -u)
declared=$(cat "$headers"/filch/*.hpp "$headers"/filch/detail/*.hpp "$@" | sed 's://.*::' | grep -oE '[a-z_]+' | sort -u)

if ! grep --quiet '^scheduler$' <<<"$exported"; then
  printf 'check_exports.sh: %s does not export filch::scheduler\n' "$library" >&2
  exit 1
fi
hidden=$(comm -23 <(printf '%s\n' "$exported") <(printf '%s\n' "$declared"))
if [[ -n $hidden ]]; then
  printf 'check_exports.sh: %s exports names that no installed header declares:\n%s\n' "$library" "$hidden" >&2
  exit 1
fi
