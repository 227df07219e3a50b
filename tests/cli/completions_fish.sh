# A real fish completes commands, options, their choices and types, and files.
command -v fish >/dev/null || skip 'there is no fish'
export HOME=$PWD XDG_CONFIG_HOME=$PWD/config
sdpa --generate fish >completions
mkdir files
touch files/query.npy files/queries.npy
propose() {
  fish -c 'source completions; cd files; complete -C "$argv"' -- "$*" | cut -f 1 | xargs
}
propose sdpa ch
propose sdpa --prec
propose sdpa --precision float
propose sdpa --layout=t
propose sdpa check out.npy --prec
propose sdpa --dtype b
propose sdpa -q quer
propose sdpa compare quer
