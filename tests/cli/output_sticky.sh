# Another user's file in a sticky folder cannot be replaced: it is overwritten at the end, and a warning says so.
[[ $(id -u) == 0 ]] && setpriv --reuid=1 --regid=1 --clear-groups true 2>/dev/null || skip 'no right to become another user'
cp "$(type -P sdpa)" program
cp "$data"/example/case.json .
chmod 755 .. .
mkdir -m 1777 sticky
for name in long short; do touch sticky/$name.json && chmod 666 sticky/$name.json; done
echo 'old, and longer than what will be written' >sticky/long.json
as_another() { setpriv --reuid=1 --regid=1 --clear-groups "$@"; }
status as_another ./program case.json -o sticky/long.json -w sticky/short.json
cat sticky/long.json sticky/short.json
stat -c '%u %a %n' sticky/*
status as_another ./program case.json -o sticky/own.json
status as_another ./program case.json -o sticky/own.json
status ./program case.json -o sticky/own.json
ls -A sticky
