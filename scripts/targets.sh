# Sourced by scripts/build, after scripts/setup.sh: the systems that convoy is built for.

TARGETS="linux-x64 linux-x64-musl linux-arm64 linux-arm64-musl darwin-x64 darwin-arm64"

# is_target <name>
is_target() {
  case " $TARGETS " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

# runtime_for <target>: fetches the Bun that a program for it is made from, as bun.lock pins it; prints its path.
# On a failure prints why, in one line, and fails.
runtime_for() {
  if [ "$1" = "$here" ]; then
    echo "$BUN"
    return 0
  fi
  package=@oven/bun-$(echo "$1" | sed 's/arm64/aarch64/')
  pinned=$(grep "^ *\"$package\": \[" bun.lock) || {
    echo "bun.lock pins no $package"
    return 1
  }
  folder=node_modules/.bun-targets/$1
  mkdir -p "$folder" || return 1
  echo "{ \"dependencies\": { \"$package\": \"$pinned_bun\" } }" >"$folder/package.json"
  {
    echo '{ "lockfileVersion": 1, "workspaces": { "": { "dependencies": {'
    echo "\"$package\": \"$pinned_bun\" } } }, \"packages\": {"
    echo "$pinned } }"
  } >"$folder/bun.lock"
  system=${1%%-*}
  machine=$(echo "$1" | cut -d- -f2)
  runtime=$PWD/$folder/node_modules/$package/bin/bun
  said=$(cd "$folder" && "$BUN" install --frozen-lockfile --ignore-scripts --os="$system" --cpu="$machine" 2>&1) &&
    [ -f "$runtime" ] || {
    echo "$package@$pinned_bun cannot be fetched: $(echo "$said" | grep -i error | tail -n 1)"
    return 1
  }
  echo "$runtime"
}

# bytes <file> <offset> <count>: in hexadecimal.
bytes() {
  od -An -v -tx1 -j "$2" -N "$3" "$1" | tr -d ' \n'
}

# is_for <file> <target>: whether the file's header is that of a program for the target.
is_for() {
  case $2 in
  # ELF: the machine at byte 18. The loader's name, near the beginning, says whose C library it wants.
  linux-x64*) wanted=7f454c46-3e00 ;;
  linux-arm64*) wanted=7f454c46-b700 ;;
  # Mach-O, 64 bits: the processor at byte 4.
  darwin-x64) wanted=cffaedfe-07000001 ;;
  darwin-arm64) wanted=cffaedfe-0c000001 ;;
  esac
  case $2 in
  linux-*) [ "$(bytes "$1" 0 4)-$(bytes "$1" 18 2)" = "$wanted" ] || return 1 ;;
  *) [ "$(bytes "$1" 0 4)-$(bytes "$1" 4 4)" = "$wanted" ] && return 0 || return 1 ;;
  esac
  if head -c 4096 "$1" | grep -q ld-musl; then library=musl; else library=glibc; fi
  case $2 in *-musl) [ $library = musl ] ;; *) [ $library = glibc ] ;; esac
}

# sums: the SHA-256 sums of the targets' files in the current folder, as sha256sum writes them.
sums() {
  for target in $TARGETS; do
    if [ -f "convoy-$target" ]; then set -- "$@" "convoy-$target"; fi
  done
  if [ $# -eq 0 ]; then
    return 0
  elif command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$@"
  else
    shasum -a 256 "$@"
  fi
}
