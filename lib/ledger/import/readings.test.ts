import { describe, expect, test } from "vitest";
import { projectSlug } from "@/lib/contract/values/fields";
import { guessByContents } from "./contents";
import { guessMapping } from "./fields";
import { RowError, toMessage } from "./message";
import { readDate, readNumber } from "./notation";
import { findQuestions, isSlug, readProjectNames } from "./readings";
import type { FileRow } from "./row";

const rowsOf = (column: string, values: string[]): FileRow[] =>
  values.map((value, index) => ({ line: index + 2, values: { [column]: value } }));
const mappingOf = (...columns: string[]) => guessMapping(columns, { map: {}, set: {} });

describe("Numbers of a file", () => {
  const ask = (...values: string[]) => findQuestions(rowsOf("amount", values), mappingOf("amount")).decimals;

  test.each([
    ["plain whole numbers", ["12", "-4", "1e5", ""]],
    ["one that is none", ["twelve"]],
  ])("leave nothing open: %s", (_, values) => {
    expect(ask(...values)).toBeUndefined();
  });

  test.each([
    [["12,50"], "comma"],
    [["1.234,5", "1.234"], "comma"],
    [["12.5", "1,234"], "point"],
    [["0.153", "0.3"], "point"],
    [["1 234,5"], "comma"],
    [["1'234.50"], "point"],
  ])("have one reading where another fits not all of them: %j", (values, only) => {
    expect(ask(...values)?.options).toEqual([only]);
  });

  test.each([[["1.234"]], [["1,234", "12"]], [["1.234", "5.678.901,5", "1.5"]]])(
    "are to be chosen where both readings fit, or neither does: %j",
    (values) => {
      expect(ask(...values)).toMatchObject({ options: ["point", "comma"] });
    },
  );

  test("keep every digit", () => {
    expect(readNumber("1.234.567,000000000000000001", "comma")).toBe("1234567.000000000000000001");
    expect(readNumber("-1,234.50", "point")).toBe("-1234.50");
    expect(readNumber("1 234 567,5", "comma")).toBe("1234567.5");
    expect(readNumber("00,5", "comma")).toBe("0.5");
    for (const wrong of ["1.23,4", "1,2,3", "", "-", "1..2", "12.34.567,1"]) {
      expect(readNumber(wrong, "comma"), wrong).toBeUndefined();
    }
    // A value with two possible readings is refused until one is chosen.
    for (const text of ["1,234", "1.234,5", "12,5"]) expect(readNumber(text), text).toBeUndefined();
  });
});

describe("Dates of a file", () => {
  const ask = (...values: string[]) => findQuestions(rowsOf("date", values), mappingOf("date")).dates;

  test("have to be chosen where the day and the month can be either", () => {
    expect(ask("03/04/2026", "5/6/2026")).toEqual({ options: ["dmy", "mdy"], example: "03/04/2026" });
    expect(ask("2026-03-04", "04/04/2026")).toBeUndefined();
  });

  test("are settled by one that has a single reading", () => {
    expect(ask("03/04/2026", "31/12/2026")).toMatchObject({ options: ["dmy"], example: "03/04/2026" });
    expect(ask("03/04/2026", "12/31/2026")?.options).toEqual(["mdy"]);
    expect(ask("03.04.2026")?.options).toEqual(["dmy"]);
  });

  test("are read in the chosen order, with their time", () => {
    expect(readDate("3.4.2026", "dmy")).toBe("2026-04-03");
    expect(readDate("3/4/2026 9:05", "mdy")).toBe("2026-03-04 09:05");
    for (const wrong of ["31/02/2026", "3/4/26", "03/04-2026", "2026-03-04"]) {
      expect(readDate(wrong, "dmy"), wrong).toBeUndefined();
    }
  });
});

test("Reads a European row whole, in the readings that were chosen", () => {
  const mapping = {
    ...mappingOf("date", "project", "vendor", "amount", "currency"),
    readings: { decimals: "comma", dates: "dmy" } as const,
    projects: { "Team Süd": "team-sued" },
  };
  const values = {
    date: "03.04.2026",
    project: "Team Süd",
    vendor: "Hetzner",
    amount: "1.234,50",
    currency: "EUR",
  };
  const { project, message } = toMessage({ line: 2, values }, mapping, "k");
  expect([project, message.occurred_at, String(message.amount)]).toEqual([
    "team-sued",
    "2026-04-03T00:00:00Z",
    "1234.50",
  ]);
});

test("Names all that is wrong with a row, and keeps the rest to be checked", () => {
  const mapping = mappingOf("project", "type", "provider", "quantity", "unit", "cost", "date");
  const values = {
    ...{ project: "p", type: "purchase", provider: "openai", quantity: "20,5", unit: "requests" },
    ...{ cost: "1,5", date: "03/04/2026" },
  };
  let error: unknown;
  try {
    toMessage({ line: 2, values }, mapping, "k");
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(RowError);
  const { issues, rest } = error as RowError;
  expect(issues.map(({ field }) => field)).toEqual(["type", "quantity", "estimated_cost", "occurred_at"]);
  expect(rest?.message).toMatchObject({ type: "usage", quantity: "20,5" });
});

describe("Names of projects", () => {
  const read = (names: string[], known: { slug: string; name: string }[] = []) =>
    readProjectNames(rowsOf("project", names), mappingOf("project"), known);

  test("are those of the workspace's projects, else become slugs", () => {
    const known = [
      { slug: "search", name: "Search Team" },
      { slug: "a", name: "Twice" },
      { slug: "b", name: "twice" },
    ];
    expect(
      read(["Search Team", "search team", "Équipe Straße 7", "checkout", "Twice", "检索"], known),
    ).toEqual([
      { name: "Search Team", slug: "search", isNew: false },
      { name: "search team", slug: "search", isNew: false },
      { name: "Équipe Straße 7", slug: "equipe-strasse-7", isNew: true },
      { name: "Twice", slug: undefined, isNew: false },
      { name: "检索", slug: undefined, isNew: true },
    ]);
  });

  test("have slugs that the service takes, however long the names are", () => {
    const [long] = read([`${"Very long name ".repeat(9)}!`]);
    expect(long?.slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(long?.slug?.length).toBeLessThanOrEqual(64);
  });

  test.each(["checkout", "a.b_c-1", "-a", "A", "ä", "", "a".repeat(64), "a".repeat(65)])(
    "are slugs where the service says so: %j",
    (text) => {
      expect(isSlug(text)).toBe(projectSlug.safeParse(text).success);
    },
  );
});

describe("Columns that are named in another language", () => {
  const guess = (columns: Record<string, string[]>, projects: { slug: string; name: string }[] = []) => {
    const names = Object.keys(columns);
    const rows = [0, 1].map((index) => ({
      line: index + 2,
      values: Object.fromEntries(names.map((name) => [name, columns[name]?.[index] ?? ""])),
    }));
    const mapping = mappingOf(...names);
    return guessByContents(rows, mapping.unused, (field) => mapping.columns[field] !== undefined, projects);
  };

  test("are found by their values", () => {
    const found = guess(
      {
        Datum: ["03.04.2026", "14.04.2026"],
        Betrag: ["1.234,50", "7,00"],
        Währung: ["EUR", "CHF"],
        Modell: ["gpt-4o", "claude-sonnet-4-5"],
        Anbieter: ["OpenAI", "anthropic"],
        Einheit: ["input_tokens", "output_tokens"],
        Wer: ["anna@example.com", "bo@example.com"],
        Projekt: ["Suche", "checkout"],
        Rechnung: ["INV-1", "INV-2"],
      },
      [
        { slug: "suche", name: "Suche" },
        { slug: "checkout", name: "Checkout" },
      ],
    );
    expect(found).toEqual({
      ...{ occurred_at: "Datum", amount: "Betrag", currency: "Währung", model: "Modell" },
      ...{ provider: "Anbieter", unit_type: "Einheit", user: "Wer", project: "Projekt" },
    });
  });

  test("are left alone where two look alike, or one is named already", () => {
    expect(guess({ Rechnungstag: ["2026-01-01"], Zahltag: ["2026-01-05"] })).toEqual({});
    expect(guess({ Netto: ["1,50"], Brutto: ["1,79"] })).toEqual({});
    expect(guess({ date: ["2026-01-01"], Zahltag: ["2026-01-05"] })).toEqual({});
    expect(guess({ Menge: ["12", "14"] })).toEqual({});
  });
});
