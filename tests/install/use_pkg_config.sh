#!/usr/bin/env bash
# Builds and runs a program with nothing but the compiler and the flags that the installed .pc file of a package gives.
#
#   use_pkg_config.sh COMPILER PREFIX PACKAGE SOURCE PROGRAM
set -euo pipefail
compiler=$1 prefix=$2 package=$3 source=$4 program=$5

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name filch.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs "$package")"
"$compiler" -std=c++20 -O0 "$source" "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir filch)" -o "$program"
"$program"
