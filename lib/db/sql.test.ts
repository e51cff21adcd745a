import { expect, test } from "vitest";
import { assignments, functionCall, sql, toLiteralText } from "./sql";

test("a statement's parameters are counted over all of its fragments", () => {
  const part = sql`a = ${1}`;
  const { text, values } = sql`select from t where ${part} and b = ${2} and ${part}`;
  expect(text).toBe("select from t where a = $1 and b = $2 and a = $3");
  expect(values).toEqual([1, 2, 1]);
});

test("an update sets what is given, null included, and nothing else", () => {
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

test("values in a text are literals, whatever they hold", () => {
  expect(toLiteralText(sql`select f(${"it's"}, ${null}, ${"a\\b"})`)).toBe(
    "select f('it''s', null,  E'a\\\\b')",
  );
  expect(() => toLiteralText(sql`select ${1}`)).toThrow("text or null");
});
