# The type of the numbers counts, not that of the file, if there is evidence of it.
folder=$data/check/bf16-saved-as-f32
inputs="-q $folder/q.npy -k $folder/k.npy -v $folder/v.npy"
status sdpa check $folder/wrong.npy $inputs | sed -n "s#$data#DATA#; 1p; 5,6p"
status sdpa check $folder/wrong.npy $inputs --json | grep -e '"type"' -e numbers -e '"weights'
# The user knows better.
status sdpa check $folder/wrong.npy:float32 $inputs | sed -n "s#$data#DATA#; 1p; 5,6p"
# Inputs that are bfloat16 say nothing of an output that is not.
sdpa $inputs -o float32.npy
status sdpa check float32.npy $inputs | sed -n "1p; 5,6p"

# JSON of a float32 program.
folder=$data/check/f32-golden-in-json
inputs="-q $folder/q.json -k $folder/k.json -v $folder/v.json"
status sdpa check $folder/wrong.json $inputs | sed -n "s#$data#DATA#; 1p; 5,6p"
sdpa $inputs --dtype float32 -o shortest.json
status sdpa check shortest.json $inputs | sed -n "1p; 5,6p"

# A few small integers are no bfloat16 kernel.
echo '[[2, 2], [1, 3]]' >integers.json
status sdpa check integers.json -q $data/example/q.json -k $data/example/k.json -v $data/example/v.json | sed -n "1p; 5,6p"
