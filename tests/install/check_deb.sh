#!/usr/bin/env bash
# Makes the Debian package and checks its name, its control fields and its contents.
#
#   check_deb.sh BUILD FOLDER VERSION
set -euo pipefail
build=$1 folder=$2 version=$3

rm -rf "$folder"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$folder" >/dev/null
package=$folder/filch_${version}_$(dpkg --print-architecture).deb
contents=$(dpkg-deb --contents "$package")
fields=$(dpkg-deb --field "$package")

expect() {
  if ! grep --quiet --extended-regexp -- "$2" <<<"$1"; then
    printf 'check_deb.sh: "%s" is missing in %s, which has:\n%s\n' "$2" "$package" "$1" >&2
    exit 1
  fi
}

for path in 'bin/filch$' 'lib/libfilch\.(a|so)' 'lib/cmake/filch/filchConfig\.cmake$' \
  'lib/cmake/filch/filchConfigVersion\.cmake$' 'lib/cmake/filch/filchTargets\.cmake$' 'lib/pkgconfig/filch\.pc$' \
  'include/filch/filch\.hpp$' 'include/filch/detail/task\.hpp$' 'include/filch/platform/memory\.hpp$' \
  'share/filch/gdb/filch-gdb\.py$' 'share/doc/filch/copyright$'; do
  expect "$contents" " \./usr/$path"
done
# Places, where MPI is there.
if grep --quiet 'lib/libfilch_places\.a$' <<<"$contents"; then
  for path in 'include/filch/places\.hpp$' 'lib/cmake/filch/filchPlacesTargets\.cmake$' 'lib/pkgconfig/filch-places\.pc$'; do
    expect "$contents" " \./usr/$path"
  done
  expect "$fields" '^Suggests: .*mpi'
fi
# What the programs of the virtual machine need, where they are built.
if grep --quiet 'bin/filch-vm$' <<<"$contents"; then
  for path in 'machines/generic\.json$' 'reproduce/lazy/paper\.json$' 'reproduce/lazy/table5\.json$'; do
    expect "$contents" " \./usr/share/filch/$path"
  done
fi
expect "$fields" "^Version: $version$"
expect "$fields" '^Depends: .*libc6 \(>= '
expect "$fields" '^Depends: .*libtbb'
