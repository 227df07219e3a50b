# The picture, as JSON, and as an array that --mask takes.
sdpa mask --shape 4x6 --causal --align bottom-right
LC_ALL=C.UTF-8 sdpa mask --shape 4x6 --window 1,1 --align top-left
sdpa mask --shape 100x200 --causal --align bottom-right | head -5
LC_ALL=C.UTF-8 sdpa mask --shape 100x200 --causal --align bottom-right | tail -3
sdpa mask --shape 2x1x2x3 --key-lengths 1,3
sdpa mask --shape 2x3 --key-lengths 2 --json
sdpa mask --shape 3x3 --causal -o mask.npy
od -An -tu1 -j128 mask.npy
sdpa mask --shape 3x3 --causal -o -
sdpa mask --shape 3x3 --mask mask.npy --mask-true ignore
