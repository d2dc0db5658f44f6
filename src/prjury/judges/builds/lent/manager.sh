#!/bin/sh
command -v npx >/dev/null 2>&1 || { echo "@name: command not found" >&2; exit 127; }
exec npx --yes @package "$@"
