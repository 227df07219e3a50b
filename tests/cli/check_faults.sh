# Outputs of kernels with a fault each: what it is, and the values it explains.
kernel=$data/failing_kernel
inputs="-q $kernel/q.npy -k $kernel/k.npy -v $kernel/v.npy"
status sdpa check $kernel/one_key_too_many.npy $inputs --causal | grep -A 1 'looks like'
status sdpa check $kernel/scale.npy $inputs | grep -A 1 'looks like'
status sdpa check $kernel/scale.npy $inputs --json | sed -n '/"resembles"/,/^  ]/p'

# What nobody knows: the output of another problem. There is no list where nothing is outside.
status sdpa check $kernel/v.npy $inputs | grep -A 1 'looks like'
status sdpa -q $kernel/q.npy -k $kernel/k.npy -v $kernel/v.npy -o right.npy
status sdpa check right.npy $inputs --json | grep resembles
status sdpa check right.npy $inputs | grep -c 'looks like' || true
