# Two query heads share one key head: in each layout, and side by side in the last axis.
ln2=0.6931471805599453
echo "[[[$ln2], [0]], [[0], [$ln2]]]" >q_thd.json
echo "[[$ln2, 0], [0, $ln2]]" >q_flat.json
echo "[[[$ln2], [0]], [[0], [$ln2]]]" >q_htd.json # it equals its transpose
echo '[[[1]], [[0]]]' >k_thd.json
echo '[[1], [0]]' >k.json
echo '[[[3, 0]], [[0, 6]]]' >v_thd.json
echo '[[3, 0], [0, 6]]' >v.json
echo 'htd, k and v without an axis of heads, with weights:'
sdpa -q q_htd.json -k k.json -v v.json -w w.json && cat w.json
echo 'thd:'
sdpa -q q_thd.json -k k_thd.json -v v_thd.json --layout thd -w w_thd.json && cmp w.json w_thd.json
echo 'side by side:'
sdpa -q q_flat.json -k k.json -v v.json --heads 2

echo 'check, of the second head of the first query:'
echo '[[[2, 2], [1.5, 4]], [[1.5, 3], [2, 2]]]' >o_thd.json
sdpa check o_thd.json -q q_thd.json -k k_thd.json -v v_thd.json --layout thd | grep -E 'outside|worst' | sed 's/[^ ]* times/very many times/'
echo '[[2, 2, 1.5, 3], [1.5, 3, 2, 2]]' >o_flat.json
sdpa check o_flat.json -q q_flat.json -k k.json -v v.json --heads 2 | grep within

status sdpa check o_flat.json -q q_thd.json -k k_thd.json -v v_thd.json --layout thd
status sdpa -q q_flat.json -k k.json -v v.json --heads 3
status sdpa -q q_flat.json -k k.json -v v.json --heads 0
status sdpa -q q_flat.json -k k.json -v v.json --heads 2 --layout thd
status sdpa -q q_htd.json -k k.json -v v.json --layout dht
echo '[[[1], [0]], [[1], [0]], [[1], [0]]]' >k3.json
status sdpa -q q_htd.json -k k3.json -v k3.json

echo 'verbose:'
sdpa -q q_thd.json -k k_thd.json -v v_thd.json --layout thd --verbose >/dev/null
sdpa -q q_flat.json -k k.json -v v.json --heads 2 --verbose >/dev/null
echo '[[[[1]], [[2]], [[3]]]]' >three_heads.json
sdpa -q three_heads.json -k three_heads.json -v three_heads.json --verbose >/dev/null
sdpa -q three_heads.json -k three_heads.json -v three_heads.json --layout thd --verbose >/dev/null
sdpa -q k.json -k k.json -v k.json --verbose >/dev/null
