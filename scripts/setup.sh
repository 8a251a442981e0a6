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

bootstrap_bun() {
  mkdir -p "$bootstrap"
  npm install --prefix "$bootstrap" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
    --loglevel=error "bun@$pinned_bun" >&2
  find_pinned_bun "$bootstrap/node_modules"
}

install_dependencies() {
  BUN=$(find_pinned_bun node_modules) || BUN=$(find_pinned_bun "$bootstrap/node_modules") || BUN=
  if [ -z "$BUN" ]; then
    if command -v npm >/dev/null 2>&1; then
      BUN=$(bootstrap_bun) || BUN=
    elif command -v bun >/dev/null 2>&1; then
      BUN=bun
    fi
  fi
  if [ -z "$BUN" ]; then
    echo "scripts: cannot get Bun $pinned_bun: install Bun, or Node with npm, and look at what npm says above" >&2
    return 1
  fi
  installed=$("$BUN" install --frozen-lockfile 2>&1) || {
    printf '%s\n' "$installed" >&2
    return 1
  }
  BUN=$(find_pinned_bun node_modules) || {
    echo "scripts: Bun $pinned_bun was installed, but does not start on this machine" >&2
    return 1
  }
  rm -rf "$bootstrap"
}

install_dependencies
