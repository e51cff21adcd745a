import { expect, onTestFinished, test, vi } from "vitest";
import { Batcher } from "./batcher";

/** A batcher of numbers whose writes end when the test says so, and the groups that it has begun to write. */
function setUp(secondGroup: {
  weight?: number;
  maxWaitMs: number;
  returning?: { items: number; maxWaitMs: number };
}) {
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
    secondGroup: { weight: 2, ...secondGroup },
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
  const { groups, ends, untilWritten, add } = setUp({ maxWaitMs: anHour });
  const added = add(1);
  await untilWritten(1);
  expect(groups).toEqual([[1]]);
  ends[0]?.();
  expect(await added).toEqual([1]);
});

test("Starts a second write beside another once it is large", async () => {
  const { groups, ends, untilWritten, add } = setUp({ maxWaitMs: anHour });
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
  const { groups, ends, untilWritten, add } = setUp({ maxWaitMs: anHour });
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
  const { groups, ends, untilWritten, add } = setUp({ maxWaitMs: 5 });
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

/** Replaces the clock. @returns a function that advances it */
function stopClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

/** Lets the batcher start the writes that it starts without waiting. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

const returning = { items: 2, maxWaitMs: 10 };

test("Waits after a large group until as many items wait as were written and waited before", async () => {
  const advance = stopClock();
  const { groups, ends, untilWritten, add } = setUp({ weight: 4, maxWaitMs: anHour, returning });
  const first = add(1, 2);
  await untilWritten(1);
  const waiting = add(3);
  await nextTurn();
  advance(8);
  ends[0]?.();
  await first;
  const second = add(4);
  await nextTurn();
  expect(groups).toEqual([[1, 2]]);
  const third = add(5);
  await untilWritten(2);
  expect(groups).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  ends[1]?.();
  expect(await Promise.all([waiting, second, third])).toEqual([[3], [4], [5]]);
});

test.each([
  { took: 4, waits: 4 },
  { took: 60, waits: 10 },
])("Waits $waits ms for others to come back after a group that took $took ms", async ({ took, waits }) => {
  const advance = stopClock();
  const { groups, ends, untilWritten, add } = setUp({ weight: 4, maxWaitMs: anHour, returning });
  const first = add(1, 2);
  await untilWritten(1);
  advance(took);
  ends[0]?.();
  await first;
  const second = add(3);
  await nextTurn();
  advance(waits - 1);
  await nextTurn();
  expect(groups).toEqual([[1, 2]]);
  advance(1);
  await untilWritten(2);
  expect(groups).toEqual([[1, 2], [3]]);
  ends[1]?.();
  expect(await second).toEqual([3]);
});

test("Does not wait for others to come back once a group is large", async () => {
  const advance = stopClock();
  const { groups, ends, untilWritten, add } = setUp({ weight: 2, maxWaitMs: anHour, returning });
  const first = add(1, 2, 3, 4);
  await untilWritten(1);
  advance(8);
  ends[0]?.();
  await first;
  const second = add(5, 6);
  await untilWritten(2);
  expect(groups).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
  ends[1]?.();
  await second;
});

test("Does not make a caller wait that sends one item after another", async () => {
  const advance = stopClock();
  const { groups, ends, untilWritten, add } = setUp({ weight: 4, maxWaitMs: anHour, returning });
  for (const item of [1, 2, 3]) {
    const added = add(item);
    await untilWritten(item);
    advance(8);
    ends[item - 1]?.();
    await added;
  }
  expect(groups).toEqual([[1], [2], [3]]);
});

test("Does not wait for others to come back after a small group", async () => {
  const advance = stopClock();
  const returningLater = { ...returning, items: 3 };
  const { groups, ends, untilWritten, add } = setUp({
    weight: 4,
    maxWaitMs: anHour,
    returning: returningLater,
  });
  const first = add(1, 2);
  await untilWritten(1);
  advance(8);
  ends[0]?.();
  await first;
  const second = add(3);
  await untilWritten(2);
  expect(groups).toEqual([[1, 2], [3]]);
  ends[1]?.();
  await second;
});
