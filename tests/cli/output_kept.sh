# An output that exists is replaced when the new one is complete, and not touched before.
cp "$data"/example/case.json .
echo old >out.json
echo old >w.json
chmod 640 out.json
ln -s out.json link.json
status sdpa absent.json -o out.json
echo '{"q": [[1]], "k": [[1, 2]], "v": [[1]]}' >wrong.json
status sdpa wrong.json -o out.json -w w.json
cat out.json w.json
sdpa case.json -o link.json
cat out.json
stat -c '%a %F' out.json link.json
ls -A
