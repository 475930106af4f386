#!/usr/bin/env bash
# Formats the C++ sources with clang-format, or with --check only tells what is not formatted (exit status 1).
#
#   scripts/format.sh [--check]
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  *)
    echo "format.sh: unknown argument '$1'; use --check or nothing" >&2
    exit 2
    ;;
esac

find bench examples include src tests tools -name '*.[ch]pp' -print0 |
  xargs --null --no-run-if-empty clang-format-19 "${mode[@]}"
