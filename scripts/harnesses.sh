# Sourced after setup.sh and tally.sh: the real harnesses, installed at fixed versions into a cache of convoy's own, and
# the tests that run them. They need no account, and reach nothing but this machine.

# claude-code-2.1.197_codex-0.171.0
harness_versions() {
  sed -n 's/^ *"@[a-z-]*\/\([a-z-]*\)": "\([0-9.]*\)".*/\1-\2/p' test/harness/programs/package.json | tr '\n' '_' | sed 's/_$//'
}

# link_program <name> <version> <candidate…>: the first that starts here becomes bin/<name>.
link_program() {
  program=$1 version=$2
  shift 2
  for candidate in "$@"; do
    case $(HOME=$PWD "./$candidate" --version 2>/dev/null) in
      *"$version"*)
        ln -s "../$candidate" "bin/$program"
        return
        ;;
    esac
  done
  echo "error: no $program $version was found that starts on this machine"
  return 1
}

# Fills the current folder. The programs are run as they are: none of the packages' own install scripts.
download_harnesses() {
  cp "$1/package.json" "$1/bun.lock" . || return 1
  BUN_INSTALL_CACHE_DIR=$PWD/downloads "$BUN" install --frozen-lockfile --ignore-scripts --no-progress || return 1
  rm -rf downloads
  mkdir bin || return 1
  link_program claude "$(pinned_version claude-code)" node_modules/@anthropic-ai/claude-code-*/claude || return 1
  link_program codex "$(pinned_version codex)" node_modules/@openai/codex-*/vendor/*/bin/codex
}

pinned_version() { sed -n 's/.*"@[a-z-]*\/'"$1"'": "\([0-9.]*\)".*/\1/p' package.json; }

# Sets HARNESSES to the folder with both programs. Else says why in $harness_why; 2 when it is only that what has the
# packages cannot be reached.
install_harnesses() {
  cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/convoy/harness
  HARNESSES=$cache/$(harness_versions)/bin
  harness_why=
  [ -d "$HARNESSES" ] && return 0
  if ! mkdir -p "$cache" || ! made=$(mktemp -d "$cache/.new.XXXXXX"); then
    harness_why="nothing can be written to $cache"
    return 1
  fi
  # What an earlier run was killed over.
  find "$cache" -maxdepth 1 -name '.new.*' -mtime +0 -exec rm -rf {} +
  programs=$PWD/test/harness/programs
  if said=$(cd "$made" && download_harnesses "$programs" 2>&1); then
    # Two runs at once: the first one's stays.
    [ -d "$HARNESSES" ] || mv "$made" "${HARNESSES%/bin}"
    rm -rf "$made"
    [ -d "$HARNESSES" ] && return 0
    harness_why="$made could not be moved to ${HARNESSES%/bin}"
    return 1
  fi
  rm -rf "$made"
  unreachable=$(printf '%s\n' "$said" | grep -E -e '^(error|warn): [A-Za-z]+ downloading' -e '^(error|warn): GET .* - (407|429|5[0-9][0-9])$' | head -n 1)
  harness_why=${unreachable:-$(printf '%s\n' "$said" | grep -e '^error' | head -n 1)}
  harness_why="Claude Code and Codex could not be installed: ${harness_why#*: }"
  [ -z "$unreachable" ] || return 2
  printf '%s\n' "$said" >&2
  return 1
}

# on_loopback <command…>: with no network but this machine's own.
on_loopback() {
  case $(id -u) in
    0) set -- unshare --net -- sh -c 'ip link set lo up && exec "$@"' sh "$@" ;;
    *) set -- unshare --map-current-user --keep-caps --net -- sh -c 'ip link set lo up && exec "$@"' sh "$@" ;;
  esac
  "$@"
}

harness_tests() {
  install_harnesses
  case $? in
    0) ;;
    2)
      note "skipped: harness tests: $harness_why"
      return
      ;;
    *)
      failed=$((failed + 1))
      echo "FAILED: harness tests: $harness_why"
      return
      ;;
  esac
  if on_loopback true 2>/dev/null; then runner=on_loopback; fi
  export CONVOY_TEST_HARNESSES="$HARNESSES"
  run_tests harness $(find ./test/harness -name '*.test.ts' | sort)
  runner=
}
