import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { exactClient } from "@/tests/helpers/ledger/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

// The files are written by Apache Arrow: fixtures/write-parquet.py.
const harness = withSharedHarness();
const fixture = (name: string) => readFileSync(`tests/api/bills/fixtures/${name}.parquet`);

async function withTeam() {
  const { users, path } = await makeTeam(harness);
  const admin = exactClient(harness.services[0]?.baseUrl ?? "", users.admin.token);
  const list = async () => (await admin.get(`${path}/bills`)).body.bills as unknown[];
  const send = (content: string, more: object) =>
    admin.send(`${path}/bills`, { name: "october.parquet", content, encoding: "base64", ...more });
  return {
    list,
    add: (bytes: Uint8Array, more: object = {}) => send(Buffer.from(bytes).toString("base64"), more),
  };
}

test("An export of CUR 2.0 in Parquet is read as its CSV is", async () => {
  const { add } = await withTeam();
  const { status, body } = await add(fixture("cur-2.0"));
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({ format: "cur", row_count: "3", left_out_count: "1", amount_usd: "0.12" });
  expect(body.periods).toMatchObject([{ provider: "aws", account: "111", from: "2026-10-05" }]);
});

test("The maps of a CUR 2.0 file in Parquet name the model, and the key by a tag; rows without it keep their caller", async () => {
  const factsOf = async (key?: string) => {
    const { add } = await withTeam();
    const { status, body } = await add(fixture("cur-2.0-maps"), key ? { columns: { key } } : {});
    expect(status, JSON.stringify(body)).toBe(201);
    const { rows } = await harness.fixtures.sql.query(
      "select model, unit, trim_scale(quantity)::text as quantity, key_name as key, trim_scale(f.amount_usd)::text as usd from public.billed_facts as f join public.bill_statements as s on s.workspace_id = f.workspace_id and s.id = f.statement_id where s.bill_id = $1 order by f.amount_usd",
      [body.id],
    );
    return rows;
  };
  const fact = { model: "claude-haiku-4-5", unit: "input_tokens" };
  const bob = "arn:aws:iam::111:user/bob";
  expect(await factsOf()).toEqual([{ ...fact, quantity: "7500000", key: bob, usd: "0.75" }]);
  expect(await factsOf("resource_tags.user_team")).toEqual([
    { ...fact, quantity: "1500000", key: "search", usd: "0.15" },
    { ...fact, quantity: "6000000", key: bob, usd: "0.6" },
  ]);
  expect(await factsOf("resource_tags.iamPrincipal/team")).toEqual([
    { ...fact, quantity: "3500000", key: "growth", usd: "0.35" },
    { ...fact, quantity: "4000000", key: bob, usd: "0.4" },
  ]);
});

test("A tag of a FOCUS file in Parquet is the key, and one of a column that is not there is refused", async () => {
  const { add } = await withTeam();
  const file = fixture("focus-1.0-snappy");
  const refused = await add(file, { columns: { key: "resource_tags.team" } });
  expect([refused.status, (refused.body.issues as { path: string }[])[0]?.path]).toEqual([
    400,
    "columns.key",
  ]);
  const { status, body } = await add(file, { columns: { key: "Tags.team" } });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.columns).toMatchObject({ key: "Tags.team" });
  const { rows } = await harness.fixtures.sql.query(
    "select distinct f.key_name as key from public.billed_facts as f join public.bill_statements as s on s.workspace_id = f.workspace_id and s.id = f.statement_id where s.bill_id = $1",
    [body.id],
  );
  expect(rows).toEqual([{ key: "a" }]);
});

describe("A FOCUS file in Parquet", () => {
  test.each([
    ["1.0", "snappy", "5.623456789012345679"],
    ["1.1", "gzip", "5.623457"],
    // Floating-point numbers are read by their shortest text.
    ["1.2", "zstd", "5.623456789012346001"],
    ["1.3", "plain", "5.6235"],
  ])(
    "of version %s, %s, is read to the last digit, without rows of other services",
    async (version, codec, usd) => {
      const { add } = await withTeam();
      const { status, body } = await add(fixture(`focus-${version}-${codec}`));
      expect(status, JSON.stringify(body)).toBe(201);
      expect(body).toMatchObject({ format: "focus", row_count: "4", left_out_count: "1" });
      expect([body.amount_usd, body.left_out_usd]).toEqual([usd, "50.25"]);
      expect(body.periods).toMatchObject([
        { provider: "aws", account: "111", from: "2026-10-05", to: "2026-10-05" },
      ]);
      expect(body.unused).toContain("Tags");
    },
  );
});

test("A Parquet file of other columns is read by a mapping, its 32-bit amounts by their shortest text", async () => {
  const { add } = await withTeam();
  const { status, body } = await add(fixture("costs"), { constants: { provider: "openai" } });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({ format: "csv", amount_usd: "16777216.1", unused: ["details"] });
  expect(body.columns).toEqual({ day: "usage_date", amount: "cost", model: "model" });
});

test("A CSV file zipped with gzip is read as if it were not", async () => {
  const { add } = await withTeam();
  const csv = "day,amount,provider\n2026-10-05,4.000000000000000001,openai";
  expect((await add(gzipSync(csv))).body.amount_usd).toBe("4.000000000000000001");
  expect((await add(Buffer.from(csv), { dry_run: true })).body.amount_usd).toBe("4.000000000000000001");
});

/** A file that says of three values of a column that they are two billion. */
function withEndlessRun(): Buffer {
  const bytes = fixture("focus-1.3-plain");
  const levels = bytes.indexOf(Buffer.from([2, 0, 0, 0, 6, 1]));
  Buffer.from([0xfe, 0xff, 0xff, 0xff, 0x0f, 1]).copy(bytes, levels + 4);
  return bytes;
}

describe("A file is refused with what is wrong and what to do, and nothing is kept:", () => {
  const cut = fixture("focus-1.0-snappy");
  test.each<[string, Uint8Array, RegExp]>([
    [
      "a compression that is not read",
      fixture("focus-brotli"),
      /BROTLI. Write it with Snappy, Gzip or Zstandard/,
    ],
    ["no columns of a bill", fixture("costs"), /No column has the provider/],
    ["neither Parquet nor text", Buffer.from([0x50, 0xff, 0xfe]), /neither Parquet nor text in UTF-8/],
    ["a Parquet file that is cut off", cut.subarray(0, cut.length - 9), /is damaged .* Export it again/],
    [
      "text that unzips to more than a file may have",
      gzipSync(Buffer.alloc(16 << 20)),
      /more than 15728640 bytes/,
    ],
    ["a run of values that no memory holds", withEndlessRun(), /too long or too much memory/],
  ])("%s", async (_, bytes, message) => {
    const { add, list } = await withTeam();
    const { status, body } = await add(bytes);
    expect([status, body.error_description]).toEqual([400, expect.stringMatching(message)]);
    expect(await list()).toEqual([]);
  });

  test("any byte that is another one is read or refused, and the service goes on", async () => {
    const { add } = await withTeam();
    const bytes = fixture("focus-1.0-snappy");
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const changed = Buffer.from(bytes);
        const at = Math.floor((index * (bytes.length - 8)) / 12) + 4;
        changed[at] = (changed[at] ?? 0) ^ 0x55;
        return add(changed, { dry_run: true });
      }),
    );
    for (const { status } of answers) expect([201, 400]).toContain(status);
  });
});
