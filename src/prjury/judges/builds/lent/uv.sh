#!/bin/sh
[ -n "$PRJURY_UV" ] && [ -x "$PRJURY_UV" ] && exec "$PRJURY_UV" "$@"
case "$1 $2" in
  "venv "*) for last; do :; done; exec python3 -m venv "$last" ;;
  "pip install") shift 2; exec python3 -m pip install --disable-pip-version-check "$@" ;;
esac
echo "uv: command not found" >&2
exit 127
