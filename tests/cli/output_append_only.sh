# A file that can only be appended to is refused before anything is computed.
echo old >o.json
chattr +a o.json 2>/dev/null || skip 'no right to make a file append-only'
trap 'chattr -a o.json' EXIT
status sdpa "$data"/example/case.json -o o.json
cat o.json
ls -A
