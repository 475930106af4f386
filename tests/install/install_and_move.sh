#!/usr/bin/env bash
# Installs a build into a prefix and then moves that prefix, so that whatever remembers the old place fails.
#
#   install_and_move.sh BUILD PREFIX MOVED
set -euo pipefail
build=$1 prefix=$2 moved=$3

rm -rf "$prefix" "$moved"
cmake --install "$build" --prefix "$prefix" >/dev/null
mv "$prefix" "$moved"

if grep --recursive --text --files-with-matches --fixed-strings --exclude='*.a' "$prefix" "$moved"; then
  echo "install_and_move.sh: the files above name '$prefix', where they no longer are" >&2
  exit 1
fi
