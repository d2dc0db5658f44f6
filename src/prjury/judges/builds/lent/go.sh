#!/bin/sh
# Tests print events where only the build's log reads them: where the step's first process writes to.
session=$(cut -d ' ' -f 6 "/proc/$$/stat" 2>/dev/null)
if [ "$1" = test ] && [ "${2#-C}" = "$2" ] && [ "/proc/$$/fd/1" -ef "/proc/$session/fd/1" ]; then
  shift
  exec "@go" test -json "$@"
fi
exec "@go" "$@"
