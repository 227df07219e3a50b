# --lines: a case a line, a result or an error a line, in order, and exit 2 if there was an error.
cat >cases.jsonl <<'END'
{"q": [[0.6931471805599453], [0]], "k": [[1], [0]], "v": [[3, 0], [0, 6]]}
{"Q": [[1]], "K": [[0], [0], [2]], "V": [[3], [6], [100]], "mask": [true, true, false]}
END
sdpa cases.jsonl --lines
cat cases.jsonl | sdpa - --lines --dtype half -o out.jsonl
cat out.jsonl

cat >bad.jsonl <<'END'
{"q": [[1]], "k": [[1]], "v": [[2]]}
not json

[[1]]
{"q": [[1]], "k": [[1]]}
{"q": [[1, 2]], "k": [[1]], "v": [[1]]}
{"q": [[1]], "k": [[1]], "v": [[1e400]]}
{"q": [[1]], "k": [[1]], "v": [[70000]], "x": "\u00e9\u0000"}
{"q": [[1]], "k": [[1]], "v": [[2]], "causal": 3}
{"q": [[]], "k": [[]], "v": [[2]]}
END
printf '{"q": [[1]], "k": [[1]], "v": [[7]], "s": 1}' >>bad.jsonl
status sdpa bad.jsonl --lines --dtype float16

# A pipe gets its answer before the next case is asked.
coproc sdpa - --lines
pid=$COPROC_PID
echo '{"q": [[1]], "k": [[1]], "v": [[2.5]]}' >&"${COPROC[1]}"
read -r answer <&"${COPROC[0]}"
echo "$answer"
kill "$pid"
wait "$pid" 2>/dev/null || true

status sdpa -q a -k b -v c --lines
status sdpa bad.jsonl --lines -w w.npy
status sdpa bad.jsonl --lines --format csv
status sdpa bad.jsonl --lines -o out.json
status sdpa absent.jsonl --lines
status sdpa . --lines
: | sdpa - --lines
