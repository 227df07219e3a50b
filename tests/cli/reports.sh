# Cases made after public bug reports: the options of each give its right output, as numpy's longdouble had it, and what the
# faulty kernel wrote is outside the bound.
end='' # of the names of files, before .npy
right() { # NAME OPTION...
  local r=$data/reports/$1
  sdpa -q "$r/q$end.npy" -k "$r/k$end.npy" -v "$r/v$end.npy" "${@:2}" -o right.npy
  echo "$1: $(sdpa compare right.npy "$r/right$end.npy" --max-ulp 1 | head -n 1 | cut -d: -f1)"
}
wrong() { # NAME OPTION...
  local r=$data/reports/$1
  echo "$1, wrong: $(sdpa check "$r/wrong$end.npy" -q "$r/q$end.npy" -k "$r/k$end.npy" -v "$r/v$end.npy" "${@:2}" |
    head -n 1 | cut -d: -f1)"
}
right atol-too-tight-for-f16
right causal-cached-suffix --causal --align bottom-right
right causal-cached-suffix --causal --align 4
right causal-mask-of-ones --causal
right cross-attention-padding --key-lengths 4
right gqa-tiled-heads
right heads-equal-sequence --layout thd
right online-softmax-no-rescale
right padded-head-dim-scale
end=_padded right padded-head-dim-scale --scale '1/sqrt(10)'
right page-skipped
right sink-twice-in-splits --sinks "$data/reports/sink-twice-in-splits/sink.npy"
right softcap-after-mask-leak --softcap 1 --causal
right softcap-after-padding --softcap 2
right softmax-one-shift --sinks 0
right softmax-over-queries
right window-off-by-one --causal --window 2,0
right window-off-by-one --window 2,0
# The factors of the case are the float64 nearest to these, with which products have more digits than float64.
i=$data/reports/int8-cache-scales
sdpa -q "$i/q.npy" -k "$i/k.npy:int8*0.0173f" -v "$i/v.npy:int8*0.0211f" -o right.npy --dtype float32
echo "int8-cache-scales: $(sdpa compare right.npy "$i/right.npy" --max-ulp 2 | head -n 1 | cut -d: -f1)"
l=$data/reports/lse-golden-log2e
sdpa -q "$l/q.npy" -k "$l/k.npy" -v "$l/v.npy" -o right.npy --lse lse.npy
for golden in right wrong; do
  echo "lse-golden-log2e, $golden: $(sdpa compare lse.npy "$l/$golden.npy" --max-ulp 1 | head -n 1 | cut -d: -f1)"
done
b=$data/reports/k-tiles-against-v type=bfloat16:1x64x64
sdpa -q "$b/q.bin:$type" -k "$b/k.bin:$type" -v "$b/v.bin:$type" -o right.bin
cmp right.bin "$b/right.bin"

wrong atol-too-tight-for-f16
wrong causal-cached-suffix --causal --align bottom-right
wrong causal-mask-of-ones --causal
wrong cross-attention-padding --key-lengths 4
wrong gqa-tiled-heads
wrong heads-equal-sequence --layout thd
wrong online-softmax-no-rescale
wrong padded-head-dim-scale
wrong page-skipped
wrong softmax-over-queries
wrong window-off-by-one --causal --window 2,0

echo 'the layout that was taken where both would fit:'
right heads-equal-sequence --layout thd --verbose
right heads-equal-sequence --verbose
