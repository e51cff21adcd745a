import { expect, test } from "vitest";
import { mapped } from "@/tests/helpers/mapped-exports";
import { chatCall, exportSpans } from "@/tests/helpers/otlp";
import { pack, packRecords, unpack } from "./refused-records";

const records = (count: number, feature = "") =>
  mapped(
    exportSpans(
      Array.from({ length: count }, (_, index) => ({
        id: (index + 1).toString(16),
        trace: (index + 1).toString(16),
        attributes: { ...chatCall, ...(feature && { feature }) },
      })),
    ),
    "json",
  ).records;

test("Keeps as many refused records of an export as the limit, and not one more", () => {
  for (const [told, kept] of [
    [499, 499],
    [500, 500],
    [501, 500],
  ] as const) {
    const { count, pack: packed } = packRecords(records(told));
    expect(count).toBe(kept);
    expect(packed()).toHaveLength(Math.min(kept, pack(records(kept)).length));
  }
});

test("Stops before the record with which what is kept would exceed its bytes", () => {
  const all = records(400, "f".repeat(400));
  const packed = pack(all);
  const bytes = (list: unknown[]) =>
    list.reduce<number>((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
  const [one] = packed;
  expect(packed.length).toBeLessThan(all.length);
  expect(bytes(packed)).toBeLessThanOrEqual(256 * 1024);
  expect(bytes([...packed, one])).toBeGreaterThan(255 * 1024);
  expect(unpack(packed)).toHaveLength(packed.length);
});

test("Keeps what a record is inside of, so that it is recorded once when it is sent again", () => {
  const [record] = mapped(
    exportSpans([
      { id: "2", parent: "1", attributes: {} },
      { id: "3", parent: "2", attributes: chatCall },
    ]),
    "json",
  ).records;
  const [again] = unpack(pack(record ? [record] : []));
  expect(again?.keys.within.map(({ mark }) => mark.slice(-1))).toEqual(["2", "1"]);
});
