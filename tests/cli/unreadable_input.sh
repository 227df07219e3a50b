# A file without the permission to read it; root, who may read everything, becomes somebody else first.
cp "$data"/example/case.json .
chmod 000 case.json
chmod 755 . ..
become=()
[[ $(id -u) -ne 0 ]] || become=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# Called by its inherited descriptor, since the program may lie where only root can go.
exec 9<"$(command -v sdpa)"
status "${become[@]}" bash -c 'exec -a sdpa /proc/self/fd/9 case.json'
