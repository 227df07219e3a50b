#!/bin/sh
# The results of tests/oracle/hash_main.cpp must have the same bytes from both compilers, at -O0, -O2
# and -O3, on x86-64 with each instruction set that this processor has and on aarch64 (emulated, at -O2),
# with 1, 2 and 3 threads. Builds everything anew in a temporary folder; prints what differs and exits with
# 1 if anything does.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

require() {
  command -v "$1" >/dev/null && return
  echo "same_bytes_test.sh: $1 is missing. Debian and Ubuntu: apt-get install $2" >&2
  exit 2
}
require g++ g++
require clang++ clang
require aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
require qemu-aarch64-static qemu-user-static

# build NAME LEVEL OPTION...   one build of the hash program; Debug because its flags can be replaced
build() {
  name=$1
  level=$2
  shift 2
  if ! { cmake -S "$source" -B "$work/$name" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
           -DCMAKE_CXX_FLAGS_DEBUG="$level" "$@" &&
         cmake --build "$work/$name" --target sdpa_hash; } >"$work/$name.log" 2>&1; then
    cat "$work/$name.log" >&2
    exit 2
  fi
}

# hash NAME ISA [EMULATOR]   its hashes with one instruction set and each number of threads
hash() {
  for threads in 1 2 3; do
    SDPA_FORCE_ISA=$2 ${3-} "$work/$1/tests/sdpa_hash" $threads >"$work/$1.$2.$threads.hashes"
  done
}

sets=base
if grep -qw avx2 /proc/cpuinfo; then sets="$sets avx2"; fi
if grep -qw avx512f /proc/cpuinfo; then sets="$sets avx512"; fi

for level in -O0 -O2 -O3; do
  for compiler in g++ clang++; do
    build "$compiler$level" $level -DCMAKE_CXX_COMPILER=$compiler
    for set in $sets; do hash "$compiler$level" $set; done
  done
done
build aarch64-O2 -O2 -DCMAKE_TOOLCHAIN_FILE="$source/tests/aarch64.cmake"
hash aarch64-O2 base qemu-aarch64-static

first="$work/g++-O0.base.1.hashes"
status=0
for hashes in "$work"/*.hashes; do
  if ! diff -u "$first" "$hashes"; then status=1; fi
done
[ $status = 0 ] && echo "same bytes: $(wc -l <"$first") results, $(ls "$work"/*.hashes | wc -l) runs"
exit $status
