import { expect, test } from "vitest";
import { costMessage } from "@/lib/contract/ledger/message";
import { chooseMapping } from "./fields";
import { toMessage } from "./message";

/** Fields that an import lacks: a column has one value, a row is one line of usage, and a charge in a file is not repeated. */
const withoutColumn = ["metadata", "recurring", "ends_on", "lines"];

const types = costMessage.options.flatMap(({ shape }): [string, string[]][] => {
  const fields = Object.keys(shape).filter((name) => !withoutColumn.includes(name));
  // For the same reason a file has no batches.
  return shape.type.value === "batch" ? [] : [[shape.type.value, fields]];
});

test.each(types)("Takes every field of a message of type %s from the column of its name", (type, fields) => {
  const columns = ["project", ...fields];
  const mapping = chooseMapping(columns, { map: {}, set: {} });
  expect(mapping.unused).toEqual([]);
  const values = { ...Object.fromEntries(columns.map((name) => [name, "1"])), type };
  const { message } = toMessage({ line: 2, values }, mapping, "k");
  expect(Object.keys(message).sort()).toEqual(fields.sort());
});
