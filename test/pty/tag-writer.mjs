// Tags a session by pty's own code, one change after another, until standard input ends; run by Node:
//   tag-writer.mjs <session> <pause> <slow>     both in ms, taken at random up to twice that
// `slow` is waited before each of its renames, as on a busy machine: what others write meanwhile is lost.
// Prints, as JSON: how many changes, the longest time from a rename to the log's line about it (ms), the last value.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

const [session, pauseMs, slowMs] = process.argv.slice(2);
const cell = new Int32Array(new SharedArrayBuffer(4));
const some = (ms) => Math.random() * 2 * Number(ms);
let renamedAt = 0;
const gaps = [];

const { renameSync, appendFileSync } = fs;
fs.renameSync = (from, to) => {
  Atomics.wait(cell, 0, 0, some(slowMs));
  renameSync(from, to);
  renamedAt = performance.now();
};
fs.appendFileSync = (...args) => {
  appendFileSync(...args);
  gaps.push(performance.now() - renamedAt);
};
syncBuiltinESMExports();
const { updateTags } = await import("@myobie/pty/client");

let going = true;
process.stdin.on("end", () => {
  going = false;
});
process.stdin.resume();
let changes = 0;
for (; going || changes < 500; changes += 1) {
  const value = String(changes);
  updateTags(session, { theirs: value, [`t${changes % 7}`]: value }, [`t${(changes + 3) % 7}`]);
  await new Promise((resolve) => setTimeout(resolve, some(pauseMs)));
}
gaps.sort((a, b) => a - b);
const [medianMs, mostMs] = [gaps[gaps.length >> 1], gaps.at(-1)];
console.log(JSON.stringify({ changes, logged: gaps.length, medianMs, mostMs, last: String(changes - 1) }));
