#!/usr/bin/env bash
# Builds and runs a program that uses the installed filch, with one set of compiler flags that programs have.
#
#   use_flags.sh WHAT COMPILER PREFIX FOLDER [LIBRARY]     LIBRARY: a shared libfilch, for WHAT = hidden, unload
set -euo pipefail
what=$1 compiler=$2 prefix=$3 folder=$4 library=${5:-}

sources=$(dirname "$0")/flags
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name filch.pc)")
export PKG_CONFIG_PATH
mkdir -p "$folder"
program=$folder/$what
read -ra include <<<"$(pkg-config --cflags filch)"
read -ra link <<<"$(pkg-config --libs filch) -Wl,-rpath,$(pkg-config --variable=libdir filch)"
# Those of the headers too: pkg-config says -I, not -isystem.
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

case "$what" in
  no_rtti)
    "$compiler" -std=c++20 -O0 -fno-rtti "${warnings[@]}" "${include[@]}" "$sources/every_header.cpp" "${link[@]}" -o "$program"
    ;;
  next_standard) # g++ 12 and clang 16 call it so, newer ones as well
    "$compiler" -std=c++2b -O0 "${warnings[@]}" "${include[@]}" "$sources/every_header.cpp" "${link[@]}" -o "$program"
    ;;
  checked_containers) # whose layout differs from those in the library
    "$compiler" -std=c++20 -O0 -D_GLIBCXX_DEBUG "${warnings[@]}" "${include[@]}" "$sources/every_header.cpp" "${link[@]}" -o "$program"
    ;;
  hidden)
    of_library=$(dirname "$library")
    "$compiler" -std=c++20 -O0 -shared -fPIC -fvisibility=hidden -fvisibility-inlines-hidden "${include[@]}" \
      "$sources/library.cpp" "$library" -Wl,-rpath,"$of_library" -o "$folder/libuser.so"
    "$compiler" -std=c++20 -O0 "$sources/catcher.cpp" "$folder/libuser.so" -Wl,-rpath,"$folder" \
      -Wl,-rpath-link,"$of_library" -o "$program"
    ;;
  unload)
    link=("$library" -Wl,-rpath,"$(dirname "$library")")
    "$compiler" -std=c++20 -O0 -shared -fPIC "${include[@]}" "$sources/plugin.cpp" "${link[@]}" -o "$folder/plugin.so"
    "$compiler" -std=c++20 -O0 "${include[@]}" "$sources/host.cpp" "${link[@]}" -o "$program"
    exec "$program" "$folder/plugin.so"
    ;;
  two_units)
    # Unoptimised: filch checks contracts in the second file, and not in the first.
    compile=("$compiler" -std=c++20 -O0 "${warnings[@]}" "${include[@]}" -c)
    "${compile[@]}" -DNDEBUG "$sources/without_assertions.cpp" -o "$folder/without_assertions.o"
    "${compile[@]}" "$sources/with_assertions.cpp" -o "$folder/with_assertions.o"
    "$compiler" "$folder/without_assertions.o" "$folder/with_assertions.o" "${link[@]}" -o "$program"
    ;;
  *)
    echo "use_flags.sh: unknown '$what'; use one of: no_rtti, next_standard, checked_containers, hidden, unload, two_units" >&2
    exit 2
    ;;
esac
"$program"
