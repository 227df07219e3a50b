# The manual page names every option of every command, and man has nothing to say against it.
sdpa --generate man >sdpa.1
for command in '' compare check mask; do
  sdpa $command --help | grep -oE '^  (-[a-zA-Z],|   ) --[a-z-]+' | grep -oE -e '-+[a-zA-Z-]+'
done | sort -u | while read -r option; do
  sed 's/\\-/-/g; s/\\f[BRI]//g' sdpa.1 | grep -q -e "$option" || echo "missing: $option"
done
command -v man >/dev/null || skip 'there is no man'
LC_ALL=C.UTF-8 man --warnings -l -Tutf8 ./sdpa.1 >/dev/null
