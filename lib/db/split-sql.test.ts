import { expect, test } from "vitest";
import { splitSql } from "./split-sql";

const texts = (source: string) => splitSql(source).map(({ text }) => text);

test("Splits at semicolons and drops blanks and comments", () => {
  expect(texts("select 1; ;\n\n select 2 ;-- done\n/* and done */")).toEqual(["select 1", "select 2"]);
  expect(texts("-- nothing here;\n")).toEqual([]);
});

test.each([
  ["a string", "select 'a;''b;'"],
  ["a string that ends in a backslash", String.raw`select 'a\'; select 2`, 2],
  ["an escape string", String.raw`select E'it\'s;'`],
  ["a quoted name", 'select 1 as "a;""b"'],
  ["a line comment", "select 1 -- one; two\n + 1"],
  ["a nested comment", "select /* a; /* b; */ c; */ 1"],
  ["a dollar quote", "do $$ begin perform 1; end $$"],
  ["a tagged dollar quote", "do $body$ begin execute $$select 1;$$; end $body$"],
  ["a parameter that is no dollar quote", "prepare p as select $1; select 2", 2],
  ["parentheses", "create rule r as on insert to t do (select 1; select 2)"],
  [
    "a function body",
    "create function f() returns int begin atomic select case when true then 1 end; select 2; end",
  ],
  ["a name with a dollar", "select a$b$ from t; select c$b$", 2],
])("Does not split %s", (_what, source, count = 1) => {
  expect(texts(source)).toHaveLength(count);
  expect(texts(source).join("; ")).toBe(source);
});

test("Keeps a statement's comments, its first line and the line of its first word", () => {
  const [, second] = splitSql("select 1;\n\n-- why\n\nselect 2;");
  expect(second).toEqual({ text: "-- why\n\nselect 2", body: "select 2", firstLine: 3, line: 5 });
});
