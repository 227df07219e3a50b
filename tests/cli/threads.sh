# The number of threads changes no byte; neither does asking for the weights.
s=$data/example/sentence/layer0
one() { sdpa -q "$s"/q.npy -k "$s"/k.npy -v "$s"/v.npy "$@"; }
one -o reference.npy
for n in 1 2 3 7; do
  one -o out.npy -w w$n.npy --threads $n
  cmp out.npy reference.npy
  cmp w$n.npy w1.npy
done
