# A file may be called like anything.
cp "$data"/example/case.json compare
cp "$data"/example/case.json ./-w
sdpa ./compare
sdpa -- -w
