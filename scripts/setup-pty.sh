#!/bin/sh
# Compiles what pty's own program needs (node-pty), in node_modules. Prints nothing and exits 0 when it is ready;
# prints why in one line and exits 1 where it cannot be had. Its tests alone need it: `bun install` runs no such script.
set -u
cd "$(dirname "$0")/.." || exit 1
package=node_modules/node-pty

loads() { node -e "require('./$package')" >/dev/null 2>&1; }

for tool in node npm python3 make g++; do
  command -v "$tool" >/dev/null 2>&1 || {
    echo "pty's program needs Node and a compiler, and $tool is not on PATH"
    exit 1
  }
done
loads && exit 0

# Where Node's headers stand beside it, nothing more is fetched.
prefix=$(node -p 'require("node:path").resolve(process.execPath, "../..")')
[ ! -e "$prefix/include/node/node.h" ] || export npm_config_nodedir="$prefix"

said=$(cd "$package" && npm run install --no-update-notifier 2>&1) && loads && exit 0
echo "node-pty does not compile: $(printf '%s\n' "$said" | grep -iE 'err' | head -n 1)"
exit 1
