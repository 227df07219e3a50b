# A reader that has gone ends the program by SIGPIPE, or with a message where that signal is ignored.
cp "$data"/example/case.json .
mkfifo pipe
closed() {
  sleep 0.1 <pipe &
  exec 8>pipe
  wait
  status "$@" >&8
  exec 8>&-
}
closed env --default-signal=PIPE sdpa case.json
closed env --ignore-signal=PIPE sdpa case.json
closed env --ignore-signal=PIPE sdpa --help
