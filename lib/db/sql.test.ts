import fc from "fast-check";
import { escapeLiteral } from "pg";
import { expect, test } from "vitest";
import { assignments, functionCall, quoteLiteral, sql, toLiteralText } from "./sql";

test("Numbers a statement's parameters across its fragments", () => {
  const part = sql`a = ${1}`;
  const { text, values } = sql`select from t where ${part} and b = ${2} and ${part}`;
  expect(text).toBe("select from t where a = $1 and b = $2 and a = $3");
  expect(values).toEqual([1, 2, 1]);
});

test("Sets only the given columns in an update, including nulls", () => {
  const set = assignments({ name: "x", amount: undefined, note: null });
  expect(set?.text).toBe("name = $1, note = $2");
  expect(set?.values).toEqual(["x", null]);
  expect(assignments({ amount: undefined })).toBeUndefined();
});

test.each(["name = 1; drop table t; --", 'a"', "", "A", "f(", "a b"])(
  "Refuses %j as the name of a column",
  (name) => {
    expect(() => assignments({ [name]: 1 })).toThrow("is not the name");
    expect(() => functionCall(name, [])).toThrow("is not the name");
  },
);

test("Writes every value in a text as an escaped literal", () => {
  expect(toLiteralText(sql`select f(${"it's"}, ${null}, ${"a\\b"})`)).toBe(
    "select f('it''s', null,  E'a\\\\b')",
  );
  expect(() => toLiteralText(sql`select ${1}`)).toThrow("text or null");
});

test("Quotes every text as pg does", () => {
  const hostile = fc.stringMatching(/^['"\\;$a-z -]*$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), hostile), (text) => quoteLiteral(text) === escapeLiteral(text)),
  );
});
