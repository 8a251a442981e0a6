#!/bin/sh
# Stands in for claude and codex: writes down its start, then does what its test says, then sleeps.
# FIELD is put in by the kit; $FIELD/behave/<bus id> is read by this shell where it exists.
case ${0##*/} in
codex) config=${CODEX_HOME:-$HOME/.codex}/config.toml ;;
*) config=${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json ;;
esac
cat "$config" >"$FIELD/runs/$$.config" 2>/dev/null
env -0 >"$FIELD/runs/$$.env"
printf '%s\t%s\t%s\t%s\t%s\n' "$ST_AGENT" "$$" "$PPID" "$(pwd -P)" "${0##*/} $*" >>"$FIELD/runs.log"
if [ -r "$FIELD/behave/$ST_AGENT" ]; then . "$FIELD/behave/$ST_AGENT"; fi
exec sleep 1000000
