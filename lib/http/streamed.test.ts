import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { encodeStream, StreamedBody } from "./streamed";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("Aborts the body and frees its text when a reader reads nothing for 30 seconds", async () => {
  let closed = 0;
  async function* text() {
    try {
      for (;;) yield "a piece\r\n";
    } finally {
      closed += 1;
    }
  }
  const end = vi.fn(async () => {});
  const reader = encodeStream(new StreamedBody(text(), "x.csv", end)).getReader();
  for (let piece = 0; piece < 5; piece += 1) {
    await vi.advanceTimersByTimeAsync(25_000);
    expect((await reader.read()).done).toBe(false);
  }
  await vi.advanceTimersByTimeAsync(31_000);
  await expect(reader.closed).rejects.toThrow("read nothing of a file for 30 s");
  expect([closed, end.mock.calls.length]).toEqual([1, 1]);
});

test("Frees a text whose reader disconnects before the first piece", async () => {
  const end = vi.fn(async () => {});
  async function* text() {
    yield "a piece";
  }
  await encodeStream(new StreamedBody(text(), "x.csv", end)).cancel();
  expect(end).toHaveBeenCalledOnce();
});
