import { expect, test } from "vitest";
import { Batcher } from "./batcher";

/** A batcher of numbers whose writes end when the test ends them, and the groups that it has begun to write. */
function setUp(maxWaitMs: number) {
  const groups: number[][] = [];
  const ends: (() => void)[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const batcher = new Batcher<number, number>({
    write: async (items) => {
      groups.push(items);
      for (const { count, resolve } of waiting) if (groups.length >= count) resolve();
      await new Promise<void>((resolve) => ends.push(resolve));
      return items;
    },
    weigh: () => 1,
    maxGroupWeight: 4,
    maxInFlight: 2,
    company: { weight: 2, maxWaitMs },
    maxQueuedWeight: 100,
    overflow: () => new Error("The queue is full."),
  });
  const untilWritten = (count: number) =>
    new Promise<void>((resolve) => {
      if (groups.length >= count) resolve();
      else waiting.push({ count, resolve });
    });
  const add = (...items: number[]) => Promise.all(items.map((item) => batcher.add(item)));
  return { groups, ends, untilWritten, add };
}

const anHour = 3_600_000;

test("Writes an item at once while nothing else is written", async () => {
  const { groups, ends, untilWritten, add } = setUp(anHour);
  const added = add(1);
  await untilWritten(1);
  expect(groups).toEqual([[1]]);
  ends[0]?.();
  expect(await added).toEqual([1]);
});

test("Starts a second write beside another once it is large", async () => {
  const { groups, ends, untilWritten, add } = setUp(anHour);
  const first = add(1, 2);
  await untilWritten(1);
  const second = add(3);
  const third = add(4);
  await untilWritten(2);
  expect(groups).toEqual([
    [1, 2],
    [3, 4],
  ]);
  for (const end of ends) end();
  expect(await Promise.all([first, second, third])).toEqual([[1, 2], [3], [4]]);
});

test("Writes what is too small for a second write as soon as the one in flight ends", async () => {
  const { groups, ends, untilWritten, add } = setUp(anHour);
  const first = add(1, 2);
  await untilWritten(1);
  const second = add(3);
  ends[0]?.();
  await first;
  await untilWritten(2);
  expect(groups).toEqual([[1, 2], [3]]);
  ends[1]?.();
  expect(await second).toEqual([3]);
});

test("Does not wait longer than its limit for a write that is held up", async () => {
  const { groups, ends, untilWritten, add } = setUp(5);
  const heldUp = add(1, 2);
  await untilWritten(1);
  const second = add(3);
  await untilWritten(2);
  expect(groups).toEqual([[1, 2], [3]]);
  ends[1]?.();
  expect(await second).toEqual([3]);
  ends[0]?.();
  await heldUp;
});
