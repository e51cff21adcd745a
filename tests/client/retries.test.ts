import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { names, newOutlay, once, recordedLabels, usage } from "./client";
import { withIntermediary } from "./intermediary";

const harness = withSharedHarness();
const intermediary = withIntermediary();

beforeEach(() => {
  Object.assign(intermediary, { target: harness.services[0]?.baseUrl, seen: [], fates: [] });
});
afterEach(() => {
  intermediary.decide = () => undefined;
});

test("Sends a message again under the same key when the answer is lost, and it is recorded once", async () => {
  intermediary.fates = ["lose", "cut", "lose"];
  const { outlay, workspace } = await newOutlay(harness, intermediary.url);
  for (const label of names(3)) outlay.record(usage(label));
  expect(await outlay.flush()).toBe(true);
  expect(intermediary.seen).toHaveLength(4);
  expect(new Set(intermediary.seen.map(({ text }) => text)).size, "the same request").toBe(1);
  expect(new Set(intermediary.seen[0]?.keys).size, "a key for each message").toBe(3);
  expect(await recordedLabels(harness, workspace)).toEqual(once(names(3)));
  expect(outlay.counts.recorded).toBe(3);
});

describe("Retry-After", () => {
  const inThreeSeconds = () => new Date(Date.now() + 3000).toUTCString();
  test.each([
    ["429 and seconds", 429, () => "1"],
    ["503 and a date", 503, inThreeSeconds],
  ])("Is honoured with %s, though a flush is waiting", async (_, status, retryAfter) => {
    intermediary.fates = [{ status, headers: { "retry-after": retryAfter() } }];
    const { outlay, errors, workspace } = await newOutlay(harness, intermediary.url);
    outlay.record(usage("m1"));
    const flush = outlay.flush();
    await expect.poll(() => intermediary.seen.length).toBe(1);
    // Time for the answer to arrive; then another flush, which does not hasten it either.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await outlay.flush()).toBe(true);
    expect(await flush).toBe(true);
    const [first, second, ...more] = intermediary.seen;
    // A date has no milliseconds.
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    expect(more).toEqual([]);
    expect(errors).toEqual([]);
    expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1 });
  });

  test("Is honoured with the rate limit of the service itself", async () => {
    const { outlay, errors, workspace, keyId } = await newOutlay(
      harness,
      intermediary.url,
      {},
      { rate_limit_rpm: 1 },
    );
    await outlay.recordNow(usage("first"));
    outlay.record(usage("second"));
    expect(await outlay.flush(500)).toBe(false);
    expect(intermediary.seen.filter(({ path }) => path.endsWith("/batch"))).toHaveLength(1);
    expect(outlay.counts).toMatchObject({ queued: 1, refused: 0, dropped: 0 });
    expect(errors).toEqual([]);
    await outlay.close(1);
    expect(await recordedLabels(harness, workspace)).toEqual({ first: 1 });
    expect(keyId).toBeTruthy();
  });
});

test("Waits longer after each failure, and not always equally long", async () => {
  intermediary.fates = Array.from({ length: 4 }, () => "cut" as const);
  const { outlay } = await newOutlay(harness, intermediary.url);
  outlay.record(usage("m1"));
  await expect.poll(() => outlay.counts.recorded, { timeout: 20_000 }).toBe(1);
  const pauses = intermediary.seen.slice(1).map(({ at }, index) => at - (intermediary.seen[index]?.at ?? 0));
  const bounds = [500, 1000, 2000, 4000];
  pauses.forEach((pause, index) => {
    const bound = bounds[index] ?? 0;
    expect(pause).toBeGreaterThanOrEqual(bound / 2 - 10);
    expect(pause).toBeLessThan(bound + 1000);
  });
});

test("Halves a request that an intermediary finds too large", async () => {
  intermediary.decide = ({ keys }) => (keys.length > 3 ? { status: 413, body: "<h1>413</h1>" } : undefined);
  const { outlay, errors, workspace } = await newOutlay(harness, intermediary.url);
  for (const label of names(10)) outlay.record(usage(label));
  expect(await outlay.flush()).toBe(true);
  expect(errors).toEqual([]);
  expect(await recordedLabels(harness, workspace)).toEqual(once(names(10)));
});

test("Finds the one message that makes requests fail, and records the others", async () => {
  intermediary.decide = ({ text }) => (text.includes('"m4"') ? { status: 500, body: "oops" } : undefined);
  const { outlay, errors, workspace } = await newOutlay(harness, intermediary.url);
  for (const label of names(8)) outlay.record(usage(label));
  expect(await outlay.flush(30_000)).toBe(true);
  expect(errors).toEqual([{ label: "m4", error: expect.objectContaining({ status: 500 }) }]);
  expect(await recordedLabels(harness, workspace)).toEqual(once(names(8).filter((name) => name !== "m4")));
});

test("Reports messages that something else than the service answered", async () => {
  intermediary.decide = () => ({
    status: 200,
    headers: { "content-type": "text/html" },
    body: "<h1>Hi</h1>",
  });
  const { outlay, errors } = await newOutlay(harness, intermediary.url);
  outlay.record(usage("m1"));
  expect(await outlay.flush()).toBe(true);
  expect(errors).toEqual([{ label: "m1", error: expect.objectContaining({ code: "unexpected_answer" }) }]);
  expect(intermediary.seen).toHaveLength(3);
});

test("Sends at most 1,000 messages and 1 MiB in one request", async () => {
  const { outlay, workspace } = await newOutlay(harness, intermediary.url, { flushIntervalMs: 60_000 });
  const long = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, "é".repeat(500)]));
  const labels = names(1200);
  // The first hundred have 20 kB each: 2 MB.
  labels.forEach((label, index) => {
    outlay.record(usage(label, index < 100 ? { metadata: long } : {}));
  });
  expect(await outlay.flush(30_000)).toBe(true);
  expect(intermediary.seen.length).toBeGreaterThan(2);
  for (const { text, keys } of intermediary.seen) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1 << 20);
    expect(keys.length).toBeLessThanOrEqual(1000);
  }
  expect(await recordedLabels(harness, workspace)).toEqual(once(labels));
});

test("Sends at once when a full batch waits, and otherwise after the interval", async () => {
  const { outlay } = await newOutlay(harness, intermediary.url, { flushIntervalMs: 300, maxBatch: 10 });
  const begun = Date.now();
  for (const label of names(10)) outlay.record(usage(label));
  await expect.poll(() => intermediary.seen.length).toBe(1);
  expect(Date.now() - begun).toBeLessThan(290);
  await outlay.flush();
  // Right after an answer, too: otherwise a steady flow would be a request for each message.
  const again = Date.now();
  outlay.record(usage("m11"));
  await expect.poll(() => intermediary.seen.length).toBe(2);
  expect((intermediary.seen[1]?.at ?? 0) - again).toBeGreaterThanOrEqual(290);
});
