/** One look at another program's config file: where its links lead, its bytes, and whether they are still there. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

const MAX_LINKS = 40;

export interface ConfigLook {
  /** The file itself, at the end of all links; it need not exist. */
  readonly target: string;
  /** Null when there is no such file. */
  readonly content: { readonly bytes: Buffer; readonly stat: BigIntStats } | null;
}

/**
 * Follows `path` to the file that a program opening it gets, and reads it. Throws the system's error, and an error of
 * its own for what is not a regular file, or when links go in circles.
 */
export function readConfig(path: string): ConfigLook {
  const target = readTarget(path);
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return { target, content: null };
  if (!found.isFile()) throw new Error(`${target} is not a regular file`);
  return { target, content: readWhole(target) };
}

/** Whether the file still is as `look` found it. Whoever replaces it right after this asks nobody. */
export function isUnchanged(look: ConfigLook): boolean {
  const { target, content } = look;
  const found = statSync(target, { throwIfNoEntry: false });
  if (content === null || found === undefined) return content === null && found === undefined;
  const again = readWhole(target);
  return again.bytes.equals(content.bytes) && isSame(statSync(target, { bigint: true }), again.stat);
}

/**
 * The text of a file's bytes; a byte order mark stays in it. Throws a TypeError for what is not UTF-8, which would
 * not come back as it was.
 */
export function decodeConfig(bytes: Buffer): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** By hand, since a link to a file that is not there yet must lead to where it will be. */
function readTarget(path: string): string {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const found = lstatSync(current, { throwIfNoEntry: false });
    if (!found?.isSymbolicLink()) return current;
    const next = readlinkSync(current);
    const absolute = isAbsolute(next) ? next : `${realpathSync.native(dirname(current))}/${next}`;
    current = join(realpathSync.native(dirname(absolute)), basename(absolute));
  }
  throw new Error(`${path} is a link that leads in circles`);
}

function readWhole(target: string): { bytes: Buffer; stat: BigIntStats } {
  const descriptor = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    return { bytes: readFileSync(descriptor), stat };
  } finally {
    closeSync(descriptor);
  }
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}
