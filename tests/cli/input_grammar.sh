# FILE[#NAME][:TYPE[*FACTOR]][:SHAPE][[INDEX]]: what each part does, alone and together.
cp -r "$data/forms" "$data/example" .
forms=forms
show() { sdpa -q "$1" -k "$1" -v "$2"; } # one row, one key: v itself
one=$forms/text/integers.txt:int8:2x3x4[0,:1,:1]

echo members
show "$one" "$forms/case/stored.npz#v[:1]"
show "$one" "$forms/case/case.safetensors#k[1:]"
show "$one" "$forms/case/case.json#v[None,1]"
show "$one" "$forms/case/one_array.npz[0:1]"
status show "$one" "$forms/case/stored.npz"
status show "$one" "$forms/case/stored.npz#w"

echo index
show "$one" "example/v.npy[-1:]"
status show "$one" "example/v.npy[None,:,1][...,::-1]"  # one pair of brackets only
status show "$one" "example/v.npy[2]"
status show "$one" "example/v.npy[0,0,0]"
status show "$one" "example/v.npy[a]"

echo types
printf '\001\177\200\377' >v.bin
show "$one" v.bin:int8:1x4
show "$one" v.bin:u16:1x2
show "$one" v.bin:E4M3:1x4[:,:1]
show "$one" 'v.bin:int8*0.0173f:1x4'
show "$one" 'v.bin:int8*2^-7:1x4'
status show "$one" 'v.bin:int8*0.0173:1x4'
status show "$one" 'v.bin:int8*x:1x4'
status show "$one" v.bin:int8:1x5
status show "$one" v.bin:int7:1x4

echo text
printf 'a;b\n0.5;1e-3\n' >v.csv
show "$one" v.csv
show "$one" v.csv:float16
printf '1 2\n3\n' | status sdpa -q "$one" -k "$one" -v -
printf '1, 2 # three\n' | sdpa -q "$one" -k "$one" -v -
printf '1,5;2,5\n' | status sdpa -q "$one" -k "$one" -v -

echo words
printf '@0\n7f 80 // ends\nff\n0' >v.mem
show "$one" v.mem:hex-int8:1x4
show "$one" 'v.mem:hex-int8*0.5:4[None]'
status show "$one" v.mem:hex-int8:1x3
status show "$one" v.mem:hex-int8

echo 'eight bits'
printf '1000 -1000 0.3 464 465' >v.txt
sdpa -q "$one" -k "$one" -v v.txt --dtype e4m3 -o o.bin
od -An -tx1 o.bin
sdpa -q "$one" -k "$one" -v v.txt --dtype e5m2
status sdpa -q "$one" -k "$one" -v v.txt --dtype e5m2 -o o.npy
