#!/bin/sh
# Runs every fuzz target, beginning with the files of data/:
#   tests/fuzz/run.sh LIMIT BUILD [TARGET...]
# LIMIT is a number of seconds for each target, or of inputs, as 10000x: then they are the same each time, and no
# machine is too slow for them.
# BUILD is a folder configured with -DSDPA_FUZZERS=ON -DCMAKE_CXX_COMPILER=clang++. What the targets find
# interesting is kept in BUILD/corpus, what is wrong is printed, and the script then fails.
set -eu
case $1 in
  *x) limit="-runs=${1%x} -seed=1 -timeout=60" ;;
  *) limit="-max_total_time=$1 -timeout=5" ;;
esac
build=$(realpath "$2")
shift 2
data=$(realpath "$(dirname "$0")/../../data")
# Freed memory that the sanitizer keeps for a while is not the target's.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=32"
[ $# -gt 0 ] || set -- npy npz safetensors json raw text hex index lines command

# Prints a seed of the command target: a file, or numbers, behind the words that use it.
command_seed() {
  printf '%s\n' "$1"
  if [ -f "$2" ]; then cat "$2"; else printf "$2"; fi
}

for target; do
  corpus=$build/corpus/$target
  mkdir -p "$corpus"
  find "$data" -type f -name "*.$target" -exec cp -n {} "$corpus" \;
  case $target in
    raw)
      printf ':f32:1x2\n12345678' >"$corpus/raw_float32"
      printf ':bfloat16:2x1x1\nabcd' >"$corpus/raw_bfloat16"
      ;;
    text)
      printf 'a,b\n1.5,-2e3 # one\n+0.1,nan\n' >"$corpus/csv"
      printf '1;2;\n3;1e-400\n' >"$corpus/semicolons"
      ;;
    hex)
      printf '\20@10\n7f 0x80 // two\n/* and */ f 0_0\n' >"$corpus/int8"
      printf '\5 3C00\n' >"$corpus/float16"
      ;;
    lines)
      printf '{"q":[[1]],"k":[[1]],"v":[[2]]}\n\n{"q":1}\n[' >"$corpus/three"
      ;;
    index)
      printf '[0,:,-1]' >"$corpus/integers"
      printf '#a:int8*0.0173f[...,None,::-2]' >"$corpus/all"
      printf ':int8*2^-7:2x3[1:]' >"$corpus/shape"
      ;;
    command)
      command_seed 'f -o o.npy -w w.json --dtype f16' "$data/example/case.json" >"$corpus/case"
      command_seed 'f --lines -o o.jsonl' "$data/example/case.json" >"$corpus/lines"
      command_seed '-q f -k f -v - --threads 2' "$data/example/q.npy" >"$corpus/operands"
      command_seed '-q f:i8:2x2x1 -k f:i8:2x2x1 -v f:i8:2x2x1 --precision float32 -o o.bin' '\1\2\3\4' >"$corpus/raw"
      command_seed 'compare f:bf16:2x1 - --max-ulp 2 --atol 1e-6 --json' '\1\2\3\4' >"$corpus/compare"
      command_seed 'check f -q f -k f -v f --arithmetic sums=f32 --json' "$data/example/k.npy" >"$corpus/check"
      ;;
  esac
  "$build/tests/fuzz/${target}_fuzz" $limit -rss_limit_mb=256 -close_fd_mask=3 \
    -artifact_prefix="$build/$target-" -print_final_stats=1 "$corpus" 2>"$build/$target.log" || {
    tail -n 40 "$build/$target.log"
    exit 1
  }
  grep -E 'cov:|number_of_executed|peak_rss' "$build/$target.log" | tail -n 3 | sed "s/^/$target: /"
done
