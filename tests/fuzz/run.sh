#!/bin/sh
# Runs every fuzz target for some seconds, beginning with the files of data/:
#   tests/fuzz/run.sh SECONDS BUILD [TARGET...]
# BUILD is a folder configured with -DSDPA_FUZZERS=ON -DCMAKE_CXX_COMPILER=clang++. What the targets find
# interesting is kept in BUILD/corpus, what is wrong is printed, and the script then fails.
set -eu
seconds=$1
build=$(realpath "$2")
shift 2
data=$(realpath "$(dirname "$0")/../../data")
[ $# -gt 0 ] || set -- npy npz safetensors json raw

for target; do
  corpus=$build/corpus/$target
  mkdir -p "$corpus"
  find "$data" -type f -name "*.$target" -exec cp -n {} "$corpus" \;
  printf ':f32:1x2\n12345678' >"$corpus/raw_float32"
  printf ':bfloat16:2x1x1\nabcd' >"$corpus/raw_bfloat16"
  "$build/tests/fuzz/${target}_fuzz" -max_total_time="$seconds" -rss_limit_mb=256 -timeout=5 \
    -artifact_prefix="$build/" -print_final_stats=1 "$corpus" 2>"$build/$target.log" || {
    tail -n 40 "$build/$target.log"
    exit 1
  }
  grep -E 'cov:|number_of_executed|peak_rss' "$build/$target.log" | tail -n 3 | sed "s/^/$target: /"
done
