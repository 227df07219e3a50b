# A peer's output is within the bound; with a row damaged, it is not.
layer=$data/example/sentence/layer1_head0
cp "$layer"/[qkv].npy .
cp "$layer"/peer_output.npy mine.npy
inputs='-q q.npy -k k.npy -v v.npy'
status sdpa check mine.npy $inputs >report
sed -n '1,3p' report
grep 'would fail' report
grep -c 'too weak' report

# Row 5 of 13, each of 128 float32 behind a header of 128 bytes.
printf '%512s' '' | tr ' ' '\0' | dd of=mine.npy bs=1 seek=$((128 + 5 * 512)) conv=notrunc status=none
status sdpa check mine.npy $inputs >report
sed -n '1,3p' report
grep pattern report
