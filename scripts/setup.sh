# Sourced by the other scripts, from the top of the checkout: installs node_modules from bun.lock and sets BUN.
# Needs Bun, or Node with npm; which Bun it is does not matter, the pinned one is installed.

unset BUN_OPTIONS BUN_BE_BUN BUN_INSPECT NODE_ENV NODE_OPTIONS

bootstrap=node_modules/.bun-bootstrap
pinned_bun=$(sed -n 's/^ *"bun": "\([0-9.]*\)".*/\1/p' package.json)

# Its own install script puts the program into bun/bin; where npm runs no such scripts it is still in the platform's
# package, and of several of those (older npm installs glibc's and musl's) the one that starts here is taken.
find_pinned_bun() {
  for candidate in "$1"/bun/bin/bun.exe "$1"/@oven/bun-*/bin/bun; do
    if [ "$("$candidate" --version 2>/dev/null)" = "$pinned_bun" ]; then
      printf '%s\n' "$PWD/$candidate"
      return 0
    fi
  done
  return 1
}

# quietly <command…>: its words are only of interest when it fails.
quietly() {
  quiet_said=$("$@" 2>&1) || {
    printf '%s\n' "$quiet_said" >&2
    return 1
  }
}

bootstrap_bun() {
  mkdir -p "$bootstrap" || return 1
  quietly npm install --prefix "$bootstrap" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
    --no-update-notifier --loglevel=error "bun@$pinned_bun" || return 1
  find_pinned_bun "$bootstrap/node_modules"
}

# A Bun from outside: the pinned one, else what npm brings, else any that can read bun.lock.
find_bun() {
  if [ "$(bun --version 2>/dev/null)" = "$pinned_bun" ]; then
    echo bun
  elif command -v npm >/dev/null 2>&1; then
    bootstrap_bun
  elif command -v bun >/dev/null 2>&1; then
    echo bun
  fi
}

install_dependencies() {
  BUN=$(find_pinned_bun node_modules) || BUN=$(find_pinned_bun "$bootstrap/node_modules") || BUN=$(find_bun) || BUN=
  if [ -z "$BUN" ]; then
    echo "scripts: cannot get Bun $pinned_bun: install Bun, or Node with npm; npm's own words, if any, are above" >&2
    return 1
  fi
  quietly "$BUN" install --frozen-lockfile || return 1
  BUN=$(find_pinned_bun node_modules) || {
    echo "scripts: Bun $pinned_bun was installed, but does not start on this machine" >&2
    return 1
  }
  rm -rf "$bootstrap"
}

install_dependencies
