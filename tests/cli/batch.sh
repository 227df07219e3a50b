# Every matrix of an array with more than two axes is its own attention.
cat >case.json <<'END'
{"q": [[[[0]], [[1e9]]]], "k": [[[[1], [2]], [[1], [2]]]], "v": [[[[4], [6]], [[8], [10]]]]}
END
sdpa case.json -w w.json
cat w.json
s=$data/example/sentence
sdpa -q "$s"/layer1/q.npy -k "$s"/layer1/k.npy -v "$s"/layer1/v.npy -o four.bin
sdpa -q "$s"/layer1_head0/q.npy -k "$s"/layer1_head0/k.npy -v "$s"/layer1_head0/v.npy -o one.bin
head -c "$(wc -c <one.bin)" four.bin | cmp - one.bin
wc -c <four.bin
