# A case file that holds an output is checked alone; an output beside one, with the file.
cat >case.json <<'END'
{"Q": [[0.6931471805599453], [0]], "Key": [[1], [0]], "v": [[3, 0], [0, 6]],
 "Expected": [[2, 2], [1.5, 3]], "m": [3], "about": {"by": "hand"}}
END
sdpa case.json -o out.npz --dtype float32
sdpa check case.json | grep -e bound: -e output
sdpa check out.npz case.json | grep -e bound: -e output
sdpa check case.json#Expected case.json | grep -e bound: -e output
sed 's/1.5/1.6/' case.json >wrong.json
status sdpa check wrong.json >report
grep -e bound: -e output report

echo archives
cp "$data"/forms/case/{options,further_names}.npz .
sdpa check options.npz | head -n 4
sdpa options.npz -o o.npy --verbose
status sdpa check further_names.npz
status sdpa check o.npy
sed 's/"m"/"o"/' case.json >two.json
status sdpa check two.json
sdpa check out.npz two.json | head -n 1
