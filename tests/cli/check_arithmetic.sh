# The arithmetic is that of the files if nothing is declared, and decides what is allowed.
example=$data/example
echo '[[2, 2], [1.5, 3]]' >right.json
echo '[[2.001, 2], [1.5, 3]]' >near.json
inputs="-q $example/q.npy -k $example/k.npy -v $example/v.npy"
status sdpa check right.json $inputs | grep -e bound -e arithmetic
status sdpa check near.json $inputs | grep -e bound -e arithmetic -e 'right is' -e pattern -e within
status sdpa check near.json $inputs --arithmetic sums=float16 | grep -e bound -e arithmetic
status sdpa check near.json $inputs --arithmetic sums=float32,weights=bfloat16 | grep -e bound -e arithmetic

# Values of bfloat16: 1 is 0x3f80.
printf '\200\077' >one.bin
one=one.bin:bfloat16:1x1
status sdpa check $one -q $one -k $one -v $one | grep -e bound -e arithmetic

# A kernel that rounds the factors of its products to tf32 says so; if not, the report does.
tf32=$data/check/tf32
inputs="-q $tf32/q.npy -k $tf32/k.npy -v $tf32/v.npy"
status sdpa check $tf32/actual.npy $inputs --arithmetic products=tf32 | grep -e bound: -e arithmetic
status sdpa check $tf32/actual.npy $inputs | grep -e bound: -e 'within under'
# An output in steps of 2^-11, and one by exponentials from a table.
echo '[[2, 2.00048828125], [1.5, 3]]' >steps.json
status sdpa check steps.json -q $example/q.npy -k $example/k.npy -v $example/v.npy --arithmetic step=2^-11 | head -n 1
echo '[[2.0007, 1.9985], [1.5, 3]]' >table.json
status sdpa check table.json -q $example/q.npy -k $example/k.npy -v $example/v.npy --arithmetic exp=1e-3 | head -n 1
status sdpa check table.json -q $example/q.npy -k $example/k.npy -v $example/v.npy --arithmetic exp=1e-4 | head -n 1
