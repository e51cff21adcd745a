import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Outlay, OutlayError } from "@/packages/client/src/index";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { names, newOutlay, once, recordedLabels, usage } from "./client";
import { withIntermediary } from "./intermediary";

const harness = withSharedHarness();
const intermediary = withIntermediary();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

beforeEach(() => {
  Object.assign(intermediary, { target: baseUrl(), seen: [], fates: [] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A port of loopback on which nobody listens. */
const deadUrl = "http://127.0.0.1:9";

describe("A message that the service refuses", () => {
  test("Is reported with the API's error and the request; the others are recorded", async () => {
    const { outlay, errors, workspace } = await newOutlay(harness, baseUrl());
    outlay.record(usage("m1"));
    outlay.record(usage("m2", { quantity: -1 }));
    outlay.record(usage("m3"), { project: "No slug" });
    outlay.record(usage("m4"));
    expect(await outlay.flush()).toBe(true);
    expect(errors.map(({ label, error }) => [label, error.code, error.status])).toEqual([
      ["m2", "validation_failed", 400],
      ["m3", "validation_failed", 400],
    ]);
    expect(errors[0]?.error.message).toMatch(/quantity.*greater than 0/);
    expect(errors[0]?.error.body?.issues).toEqual([expect.objectContaining({ message: expect.any(String) })]);
    expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1, m4: 1 });
    expect(outlay.counts).toEqual({ queued: 0, recorded: 2, refused: 2, dropped: 0 });
  });

  test("Is reported once for each message when the key is not valid", async () => {
    const { outlay, errors } = await newOutlay(harness, intermediary.url, { apiKey: "svc_live_none" });
    for (const label of names(3)) outlay.record(usage(label));
    expect(await outlay.flush()).toBe(true);
    expect(errors.map(({ label, error }) => [label, error.code])).toEqual(
      names(3).map((label) => [label, "invalid_credentials"]),
    );
    expect(intermediary.seen, "no retry").toHaveLength(1);
  });

  test("Is reported when the key's monthly limit is reached", async () => {
    const limit = { monthly_limit: "0.015" };
    const { outlay, errors, workspace } = await newOutlay(harness, baseUrl(), {}, limit);
    for (const label of names(3)) outlay.record(usage(label));
    expect(await outlay.flush()).toBe(true);
    expect(errors.map(({ error }) => [error.code, error.body?.limit_usd])).toEqual([
      ["monthly_limit_exceeded", 0.015],
      ["monthly_limit_exceeded", 0.015],
    ]);
    expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1 });
  });

  test("Is one line a minute on the console without onError", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { outlay } = await newOutlay(harness, baseUrl(), { onError: undefined });
    for (const label of names(3)) outlay.record(usage(label, { quantity: -1 }));
    await outlay.flush();
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/validation_failed: .*quantity/)]]);
  });
});

describe("The caller of record", () => {
  test("Is not harmed when the address is dead", async () => {
    const { outlay, errors } = await newOutlay(harness, deadUrl);
    for (const label of names(5)) expect(outlay.record(usage(label))).toBeUndefined();
    expect(await outlay.flush(300)).toBe(false);
    expect(outlay.counts).toMatchObject({ queued: 5, dropped: 0 });
    await outlay.close(300);
    expect(errors.map(({ label, error }) => [label, error.code])).toEqual(
      names(5).map((label) => [label, "not_sent"]),
    );
    expect(outlay.counts).toEqual({ queued: 0, recorded: 0, refused: 0, dropped: 5 });
  });

  test.each([
    ["a message that is no object", null],
    ["a number that JSON cannot write", usage("m1", { quantity: 1n })],
    ["a message with a cycle", Object.assign(usage("m1"), { metadata: globalThis })],
  ])("Is not harmed by %s", async (_, message) => {
    const { outlay, errors } = await newOutlay(harness, baseUrl());
    outlay.record(message as never);
    expect(errors.map(({ error }) => error.code)).toEqual(["invalid_message"]);
    expect(outlay.counts.dropped).toBe(1);
  });

  test("Is not harmed by an onError or a fetch that throws", async () => {
    const onError = vi.fn(() => {
      throw new Error("from the callback");
    });
    const fetch = () => {
      throw new Error("from fetch");
    };
    const { outlay } = await newOutlay(harness, baseUrl(), { onError, fetch });
    outlay.record(usage("m1"));
    outlay.record(null as never);
    await outlay.close(100);
    expect(onError).toHaveBeenCalledTimes(2);
  });

  test("Is not harmed after close; the message is counted and reported", async () => {
    const { outlay, errors } = await newOutlay(harness, baseUrl());
    await outlay.close();
    outlay.record(usage("m1"));
    expect(errors).toEqual([{ label: "m1", error: expect.objectContaining({ code: "not_sent" }) }]);
  });

  test("May change the message afterwards: what was recorded is sent", async () => {
    const { outlay, workspace } = await newOutlay(harness, baseUrl());
    const message = usage("before");
    outlay.record(message);
    message.label = "after";
    await outlay.flush();
    expect(await recordedLabels(harness, workspace)).toEqual({ before: 1 });
  });
});

describe("The queue", () => {
  test("Is bounded in messages; what does not fit is counted and reported", async () => {
    const { outlay, errors, workspace } = await newOutlay(harness, intermediary.url, { maxQueue: 5 });
    intermediary.target = undefined;
    for (const label of names(8)) outlay.record(usage(label));
    expect(outlay.counts).toEqual({ queued: 5, recorded: 0, refused: 0, dropped: 3 });
    expect(errors.map(({ label, error }) => [label, error.code])).toEqual([
      ["m6", "queue_full"],
      ["m7", "queue_full"],
      ["m8", "queue_full"],
    ]);
    intermediary.target = baseUrl();
    expect(await outlay.flush()).toBe(true);
    outlay.record(usage("m9"));
    await outlay.flush();
    expect(await recordedLabels(harness, workspace)).toEqual(once([...names(5), "m9"]));
  });

  test("Is bounded in bytes, also while messages are refused and sent again", async () => {
    const { outlay, workspace } = await newOutlay(harness, intermediary.url, { maxQueueBytes: 3000 });
    intermediary.fates = ["cut"];
    const bytesOf = (label: string) => usage(label, { metadata: { text: "ü".repeat(400) } });
    for (const label of names(10)) outlay.record(bytesOf(label));
    const { queued } = outlay.counts;
    expect(queued).toBeGreaterThan(0);
    expect(queued * 1000).toBeLessThan(3000);
    await outlay.flush();
    // The whole room is free again.
    for (const label of names(10)) outlay.record(bytesOf(`again-${label}`));
    expect(outlay.counts.queued).toBe(queued);
    await outlay.flush();
    expect(Object.keys(await recordedLabels(harness, workspace))).toHaveLength(2 * queued);
  });
});

describe("The time of a cost", () => {
  test("Is when it was recorded, not when it was sent", async () => {
    const { outlay, workspace } = await newOutlay(harness, baseUrl(), { flushIntervalMs: 1500 });
    const before = Date.now();
    outlay.record(usage("m1"));
    const after = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await outlay.flush();
    const { rows } = await harness.fixtures.sql.query(
      "select occurred_at from public.messages where workspace_id = $1",
      [workspace],
    );
    const occurredAt = rows[0].occurred_at.getTime();
    expect(occurredAt).toBeGreaterThanOrEqual(before);
    expect(occurredAt).toBeLessThanOrEqual(after);
  });

  test("Is the service's where this machine's clock is wrong; one that the caller gives is not replaced", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    const { outlay, errors, workspace } = await newOutlay(harness, baseUrl());
    outlay.record(usage("m1"));
    outlay.record(usage("m2", { occurred_at: new Date().toISOString() }));
    expect(await outlay.flush()).toBe(true);
    expect(errors.map(({ label, error }) => [label, error.code])).toEqual([["m2", "validation_failed"]]);
    expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1 });
  });
});

describe("A key of the caller", () => {
  test("Records once, and another content under it is an error", async () => {
    const { outlay, errors } = await newOutlay(harness, baseUrl());
    outlay.record(usage("m1", { occurred_at: "2026-11-01T00:00:00Z" }), { idempotencyKey: "job-1" });
    outlay.record(usage("m1", { occurred_at: "2026-11-01T00:00:00Z" }), { idempotencyKey: "job-1" });
    outlay.record(usage("m2"), { idempotencyKey: "job-1" });
    await outlay.flush();
    expect(errors.map(({ error }) => error.code)).toEqual(["idempotency_conflict"]);
    expect(outlay.counts).toMatchObject({ recorded: 2, refused: 1 });
  });

  test("Is no error where the message may exist", async () => {
    const { outlay, errors, workspace } = await newOutlay(harness, baseUrl());
    outlay.record(usage("m1"), { idempotencyKey: "job-1", mayExist: true });
    outlay.record(usage("m2"), { idempotencyKey: "job-1", mayExist: true });
    await outlay.flush();
    expect(errors).toEqual([]);
    expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1 });
  });
});

describe("recordNow", () => {
  test("Answers the API's result", async () => {
    const { outlay } = await newOutlay(harness, baseUrl());
    const result = await outlay.recordNow(usage("m1"));
    expect(result).toMatchObject({ amount_usd: 0.01, cost_status: "client" });
  });

  test("Throws the API's error", async () => {
    const { outlay } = await newOutlay(harness, baseUrl());
    const error = await outlay.recordNow(usage("m1", { quantity: 0 })).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OutlayError);
    expect(error).toMatchObject({ code: "validation_failed", status: 400 });
  });

  test("Tries again while the service cannot answer, with the same key", async () => {
    intermediary.fates = ["lose", { status: 503, headers: { "retry-after": "1" } }];
    const { outlay, workspace } = await newOutlay(harness, intermediary.url);
    await outlay.recordNow(usage("m1"));
    expect(new Set(intermediary.seen.flatMap(({ keys }) => keys)).size).toBe(1);
    expect((intermediary.seen[2]?.at ?? 0) - (intermediary.seen[1]?.at ?? 0)).toBeGreaterThanOrEqual(990);
    expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1 });
  });

  test.each([
    ["a dead address", deadUrl, usage("m1"), "unreachable"],
    ["a message that JSON cannot write", deadUrl, usage("m1", { quantity: 1n }), "invalid_message"],
  ])("Throws for %s", async (_, url, message, code) => {
    const outlay = new Outlay({ url, project: "checkout" });
    await expect(outlay.recordNow(message, { retries: 1 })).rejects.toMatchObject({ code });
  });
});
