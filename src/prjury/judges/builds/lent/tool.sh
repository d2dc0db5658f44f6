#!/bin/sh
uv --version >/dev/null 2>&1 || { echo "@name: command not found" >&2; exit 127; }
exec uv tool run @tool "$@"
