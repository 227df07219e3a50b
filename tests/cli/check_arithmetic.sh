# The arithmetic is that of the files if nothing is declared, and decides what is allowed.
example=$data/example
echo '[[2, 2], [1.5, 3]]' >right.json
echo '[[2.001, 2], [1.5, 3]]' >near.json
inputs="-q $example/q.npy -k $example/k.npy -v $example/v.npy"
status sdpa check right.json $inputs | sed -n '1p;3p'
status sdpa check near.json $inputs | sed -n '1p;3p;5p;8p'
status sdpa check near.json $inputs --accumulate float16 | sed -n '1p;3p'
status sdpa check near.json $inputs --accumulate float32 --weights-in bfloat16 | sed -n '1p;3p'

# Values of bfloat16: 1 is 0x3f80.
printf '\200\077' >one.bin
one=one.bin:bfloat16:1x1
status sdpa check $one -q $one -k $one -v $one | sed -n '1p;3p'
