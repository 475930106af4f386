#!/usr/bin/env bash
# Makes sure that the Debian packages which a make target needs are there: installs them when it may (as root or with
# password-less sudo), otherwise says what to run. Silent when nothing is missing.
#
#   scripts/setup.sh build|test|all
set -euo pipefail

build=(g++ cmake ninja-build make pkg-config python3 libtbb-dev libbenchmark-dev libgtest-dev libgmock-dev libcli11-dev
  libfmt-dev nlohmann-json3-dev libhwloc-dev libboost-context-dev libcairo2-dev libopenmpi-dev openmpi-bin
  libcereal-dev)
checks=(clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19 libomp-19-dev valgrind binutils dpkg-dev file mpich libmpich-dev gdb)
compilers=(qemu-user-static g++-aarch64-linux-gnu)

case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${checks[@]}") ;;
  all) wanted=("${build[@]}" "${checks[@]}" "${compilers[@]}") ;;
  *)
    echo "setup.sh: unknown set of packages '${1:-}'; use one of: build, test, all" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: this is no Debian system; install the counterparts of '${wanted[*]}', then run make SETUP=true ..." >&2
  exit 1
fi

installed=$(dpkg-query --show --showformat '${db:Status-Status} ${binary:Package}\n' 2>/dev/null |
  sed -n 's/^installed \([^:]*\).*/\1/p')
missing=()
for package in "${wanted[@]}"; do
  grep --quiet --line-regexp --fixed-strings "$package" <<<"$installed" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id --user) -ne 0 ]]; then
  if ! sudo --non-interactive true 2>/dev/null; then
    echo "setup.sh: packages are missing and this user may not install them; run: sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo --non-interactive)
fi

echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get --quiet --quiet update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get --quiet --quiet --yes --no-install-recommends -o Dpkg::Use-Pty=0 install "${missing[@]}" >/dev/null
