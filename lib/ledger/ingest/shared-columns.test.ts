import { expect, test } from "vitest";
import type { LedgerRow } from "./ledger";
import { extractShared } from "./shared-columns";

const row: LedgerRow = {
  workspace_id: "w",
  id: "1",
  occurred_at: "2026-11-05T00:00:00Z",
  created_at: "2026-11-05T00:00:00Z",
  project_id: "p",
  api_key_id: "k",
  type: "usage",
  source: "api",
  environment: "live",
  amount_usd: "1",
  cost_status: "priced",
};

/** Adds the shared columns to the rows, as the database does. */
function complete(messages: LedgerRow[]): unknown[] {
  const { shared, rows } = extractShared(messages);
  const groups = JSON.parse(shared) as object[];
  return (JSON.parse(rows) as object[][]).flatMap((ofGroup, index) =>
    ofGroup.map((own) => ({ ...groups[index], ...own })),
  );
}

test("Sends what all rows have in common once", () => {
  const price = () => ({ rate: "2.5", unit: "input_tokens" });
  const messages = [
    { ...row, price: price(), feature: "a" },
    { ...row, id: "2", price: price(), feature: "b" },
  ];
  const { shared, rows } = extractShared(messages);
  expect(JSON.parse(rows)).toEqual([
    [
      { id: "1", feature: "a" },
      { id: "2", feature: "b" },
    ],
  ]);
  expect(JSON.parse(shared)).toMatchObject([{ workspace_id: "w", price: price() }]);
  expect(complete(messages)).toEqual(messages);
});

test("Sends the price of each unit once", () => {
  const line = (id: string, unit_type: string) => ({ ...row, id, unit_type, price: { unit: unit_type } });
  const messages = [
    line("1", "input_tokens"),
    line("2", "output_tokens"),
    line("3", "input_tokens"),
    line("4", "output_tokens"),
  ];
  const { shared, rows } = extractShared(messages);
  expect(JSON.parse(rows)).toEqual([
    [{ id: "1" }, { id: "3" }],
    [{ id: "2" }, { id: "4" }],
  ]);
  expect(JSON.parse(shared)).toMatchObject([
    { price: { unit: "input_tokens" } },
    { price: { unit: "output_tokens" } },
  ]);
  const manyUnits = Array.from({ length: 20 }, (_, index) => line(String(index), `unit_${index}`));
  expect(JSON.parse(extractShared(manyUnits).rows)).toHaveLength(1);
  expect(complete(manyUnits)).toEqual(manyUnits);
});

test("Gives no row a value that only others have", () => {
  const messages: LedgerRow[] = [
    { ...row, label: "first", part: 0, price: { rate: "1" }, metadata: { a: 1 } },
    { ...row, part: 1, price: { rate: "2" } },
    { ...row, id: "3", feature: "only here", api_key_id: null },
  ];
  expect(complete(messages)).toEqual(messages);
  expect(complete([...messages].reverse())).toEqual([...messages].reverse());
  expect(extractShared([])).toEqual({ shared: "[]", rows: "[]" });
});
