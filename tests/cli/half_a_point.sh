# Scores 0.5, 0, 0, 0: the matching key gets 35.5 %, each other one 21.5 %.
cp "$data"/golden/seed_half_score_f32/*.npy .
sdpa -q q.npy -k k.npy -v v.npy -o out.npy -w w.npy --dtype float32
cmp out.npy expected_float32.npy
cmp w.npy expected_weights_float32.npy
sdpa -q q.npy -k k.npy -v v.npy
