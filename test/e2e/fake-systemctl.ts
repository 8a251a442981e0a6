/** A stand-in for systemd's `systemctl`: it keeps a unit's state in files, notes what it is told, and starts nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Net } from "./kit.ts";

/** The pid that it gives a running unit: more than there can be. */
export const UNIT_PID = 4194305;

const SYSTEMCTL = `#!/bin/sh
cd "$HOME" && mkdir -p sd && shift
case $1 in
show)
  is() { if [ -e "sd/$1" ]; then echo "$2"; else echo "$3"; fi; }
  echo "LoadState=$(is loaded loaded not-found)"
  echo "UnitFileState=$(is enabled enabled disabled)"
  echo "NeedDaemonReload=no"
  echo "ActiveState=$(is active active inactive)"
  echo "MainPID=$(is active ${UNIT_PID} 0)"
  echo "KillMode=$(is kills control-group process)"
  exit ;;
esac
echo "$*" >>systemctl.log
[ ! -e sd/fails ] || { echo "Access denied" >&2; exit 1; }
case $1 in
daemon-reload) if ls .config/systemd/user/*.service >/dev/null 2>&1; then : >sd/loaded; else rm -f sd/loaded; fi ;;
enable) : >sd/enabled ;;
start | restart) : >sd/active ;;
disable) rm -f sd/enabled sd/active ;;
stop) rm -f sd/active ;;
esac
`;

/** Puts it, and a `loginctl` that refuses, on the network's PATH. */
export function fakeSystemctl(net: Net): void {
  net.program("systemctl", SYSTEMCTL);
  net.program("loginctl", '#!/bin/sh\necho "Could not enable linger: Access denied" >&2\nexit 1\n');
}

/** What it was told, without `--user`. */
export function toldSystemctl(net: Net): string[] {
  const path = join(net.home, "systemctl.log");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}
