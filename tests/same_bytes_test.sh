#!/bin/sh
# The results of tests/oracle/hash_main.cpp must have the same bytes from every compiler, optimisation level
# and processor, with each instruction set and with 1, 2 and 3 threads:
#   tests/same_bytes_test.sh COMMAND COMMAND...
# A COMMAND runs the hash program of one build, BUILD/tests/sdpa_hash, with an emulator in front if need be.
# Prints what differs and exits with 1 if anything does.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run=0
for command; do
  sets=base
  case $command in
    qemu-*) ;;
    *) for set in avx2 avx512bw; do
         if grep -qw $set /proc/cpuinfo; then sets="$sets ${set%bw}"; fi
       done ;;
  esac
  for set in $sets; do
    for threads in 1 2 3; do
      run=$((run + 1))
      SDPA_FORCE_ISA=$set $command $threads >"$work/$run"
      if ! diff -u "$work/1" "$work/$run"; then
        echo "same_bytes_test.sh: '$command $threads' with $set differs from '$1 1' with base" >&2
        exit 1
      fi
    done
  done
done
echo "same bytes: $(wc -l <"$work/1") results, $run runs"
