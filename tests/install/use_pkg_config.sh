#!/usr/bin/env bash
# Builds and runs a program with nothing but the compiler and the flags that the installed filch.pc gives.
#
#   use_pkg_config.sh COMPILER PREFIX SOURCE PROGRAM
set -euo pipefail
compiler=$1 prefix=$2 source=$3 program=$4

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name filch.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs filch)"
"$compiler" -std=c++20 -O0 "$source" "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir filch)" -o "$program"
"$program"
