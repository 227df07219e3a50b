#!/bin/sh
# The results of tests/oracle/hash_main.cpp must have the bytes that data/hashes.txt stands for, from every compiler,
# optimisation level and processor, with each instruction set and with 1, 2 and 3 threads:
#   tests/same_bytes_test.sh COMMAND COMMAND...
# A COMMAND runs the hash program of one build, BUILD/tests/sdpa_hash, with an emulator in front if need be.
# Prints what differs and exits with 1 if anything does.
set -eu

hashes=$(dirname "$0")/../data/hashes.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -v '^#' "$hashes" >"$work/wanted"
[ $# -gt 0 ] || { echo "same_bytes_test.sh: no command" >&2 && exit 1; }

runs=0
for command; do
  sets=base
  case $command in
    qemu-*) ;;
    *) for set in avx2 avx512bw; do
         if grep -qw $set /proc/cpuinfo; then sets="$sets ${set%bw}"; fi
       done ;;
  esac
  for set in $sets; do
    if [ $set = "${sets##* }" ]; then counts='1 2 3'; else counts=2; fi
    for threads in $counts; do
      runs=$((runs + 1))
      SDPA_FORCE_ISA=$set $command $threads >"$work/got"
      diff -U 0 --label data/hashes.txt --label "$set, $command $threads" "$work/wanted" "$work/got" || {
        echo "Where exact results differ, they are wrong. Others differ if the order of sums has changed: with a good"
        echo "reason, to be given in the commit message, data/hashes.txt is made anew with build/tests/sdpa_hash 1"
        exit 1
      }
    done
  done
done
echo "same bytes: $(wc -l <"$work/wanted") results, $runs runs"
