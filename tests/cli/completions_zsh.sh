# A real zsh, on a terminal of its own, completes commands, options, their choices and types, and files.
command -v zsh >/dev/null || skip 'there is no zsh'
mkdir functions files
sdpa --generate zsh >functions/_sdpa
touch files/query.npy
cat >.zshrc <<'END'
fpath=($PWD/functions $fpath)
autoload -U compinit
compinit -u -D
report() { print -r -- $BUFFER >>../lines; BUFFER= }
zle -N report
bindkey '^O' report
cd files
print ready >../ready
END
cat >propose <<'END'
zmodload zsh/zpty
export ZDOTDIR=$PWD
zpty shell zsh -i
until [[ -e ready ]]; do zpty -r -t shell output; sleep 0.01; done
integer lines=0
for words; do
  zpty -n -w shell "$words"$'\t\x0f'
  (( ++lines ))
  until [[ -e lines && $(wc -l <lines) -ge $lines ]]; do zpty -r -t shell output; sleep 0.01; done
done
zpty -d shell
END
zsh -f propose 'sdpa ch' 'sdpa --prec' 'sdpa --precision float3' 'sdpa --layout=t' 'sdpa check out.npy --prec' \
  'sdpa --dtype b' 'sdpa -q quer' 'sdpa compare quer'
cat lines
