#!/usr/bin/env bash
# What an installation brings, from a build that is there: `cmake --install` into a folder, the Debian package (made, looked at
# by lintian, installed and removed again), and the static program: small, running in an empty root, the same from two
# folders. Changes the packages of this machine, so it is a step of the gate, not a test of ctest.
#
# Usage: installed_test.sh BUILD_FOLDER [CMAKE_ARGUMENT...]
set -euo pipefail
build=$(realpath "$1")
arguments=("${@:2}")
source=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2 && exit 1; }

example=$source/data/example/case.json
wanted=$'[[2, 2],\n [1.5, 3]]'

echo 'cmake --install'
DESTDIR=$work/root cmake --install "$build" --prefix /opt/sdpa >"$work/log"
share=$work/root/opt/sdpa/share
for file in ../bin/sdpa man/man1/sdpa.1.gz bash-completion/completions/sdpa fish/vendor_completions.d/sdpa.fish \
  zsh/site-functions/_sdpa doc/sdpa/README.md doc/sdpa/copyright; do
  [[ -s $share/$file ]] || fail "missing: $file"
done
[[ $("$work/root/opt/sdpa/bin/sdpa" "$example") == "$wanted" ]] || fail 'the installed program is wrong'
zcat "$share/man/man1/sdpa.1.gz" | cmp - <("$build/sdpa" --generate man)

echo 'the Debian package'
(cd "$work" && cpack --config "$build/CPackConfig.cmake" -B "$work/package") >"$work/log"
package=$(echo "$work"/package/sdpa_*.deb)
lintian --fail-on error,warning "$package" 2>&1 | { grep -v 'root privileges' || true; }
sudo=$(command -v sudo || true)
$sudo dpkg -i "$package" >"$work/log"
listed=$(dpkg -L sdpa | grep -v lintian)
[[ $(/usr/bin/sdpa "$example") == "$wanted" ]] || fail 'the program of the package is wrong'
$sudo dpkg -r sdpa >"$work/log"
for file in $listed; do
  [[ $file != *sdpa* || ! -e $file ]] || fail "still there after removal: $file"
done

echo 'the static program'
# From the objects that are there, which are those of a static program, and from a folder elsewhere.
static() {
  cmake -S "$source" -B "$1" -G Ninja "${@:2}" >"$work/log"
  cmake --build "$1" --target sdpa >"$work/log"
}
mkdir "$work/one"
static "$build" -DSDPA_STATIC=ON
cp "$build/sdpa" "$work/one"
static "$build" -DSDPA_STATIC=OFF
static "$work/two" -DSDPA_STATIC=ON -DSDPA_TESTS=OFF "${arguments[@]}"
cmp "$work/one/sdpa" "$work/two/sdpa"
size=$(stat -c %s "$work/one/sdpa")
((size < 6000000)) || fail "the static program has $size bytes"
mkdir "$work/empty"
cp "$work/one/sdpa" "$example" "$work/empty"
[[ $($sudo "$(command -v chroot || echo /usr/sbin/chroot)" "$work/empty" /sdpa /case.json) == "$wanted" ]] || fail 'wrong in an empty root'
echo "$size bytes, the same from two folders"
