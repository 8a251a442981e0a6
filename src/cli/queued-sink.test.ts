import { describe, expect, test } from "bun:test";
import { queueBehind } from "./queued-sink.ts";

/** A reader that takes a write when it is told to. */
function reader() {
  const taken: string[] = [];
  const waiting: ((result: boolean | Error) => void)[] = [];
  return {
    taken,
    writeSoon(text: string) {
      return new Promise<boolean>((resolve, reject) => {
        waiting.push((result) => {
          taken.push(text);
          if (result instanceof Error) reject(result);
          else resolve(result);
        });
      });
    },
    /** Takes one write, and lets the next begin. */
    async take(result: boolean | Error = true) {
      waiting.shift()?.(result);
      await Bun.sleep(0);
    },
  };
}

describe("a queued stream", () => {
  test("takes what nobody reads yet, and hands it over in order", async () => {
    const { taken, take, writeSoon } = reader();
    const queue = queueBehind({ writeSoon }, () => expect.unreachable());
    expect(["a", "b", "c"].map((text) => queue.write(text))).toEqual([true, true, true]);
    expect(taken).toEqual([]);
    for (let count = 0; count < 3; count += 1) await take();
    await queue.flush(60_000);
    expect(taken).toEqual(["a", "b", "c"]);
  });

  test("keeps a bounded amount, and says how many writes were left out when it is read again", async () => {
    const { taken, take, writeSoon } = reader();
    const dropped: number[] = [];
    const queue = queueBehind({ writeSoon }, (count) => dropped.push(count));
    const piece = "x".repeat(400_000);
    for (let count = 0; count < 5; count += 1) queue.write(piece);
    expect([taken.length, dropped]).toEqual([0, []]);
    await take();
    await take();
    expect([taken.length, dropped]).toEqual([2, [3]]);
    queue.write("more");
    await take();
    expect(taken.at(-1)).toBe("more");
  });

  test("a flush waits no longer than it is told", async () => {
    const { writeSoon } = reader();
    const queue = queueBehind({ writeSoon }, () => expect.unreachable());
    queue.write("a");
    await queue.flush(1);
  });

  test("says that nobody is there, and why a write failed, by the next write", async () => {
    const { take, writeSoon } = reader();
    const queue = queueBehind({ writeSoon }, () => expect.unreachable());
    queue.write("a");
    await take(new Error("disk full"));
    expect(() => queue.write("b")).toThrow("disk full");
    await take(false);
    expect(queue.write("c")).toBe(false);
  });
});
