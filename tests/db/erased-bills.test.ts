import { randomUUID } from "node:crypto";
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { actAs, createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What an erasure changes of bills and of limits at providers: what names the person, in their workspace.

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let other: string;
withDatabase((open) => {
  ({ fixtures, service } = open);
});
beforeEach(async () => {
  [workspace, other] = [await fixtures.workspace(), await fixtures.workspace()];
});

type Fact = {
  line: string;
  key_name: string | null;
  end_user: string | null;
  usd: string;
  list: string | null;
  tier?: string;
};

/** A bill of a workspace with these facts, and limits at its provider of these members. */
async function bill(of: string, facts: Fact[], members: string[] = []): Promise<void> {
  const [id, statement] = [randomUUID(), randomUUID()];
  await fixtures.sql.query(
    `with made as (
       insert into public.bills (workspace_id, id, name, format, sha256, row_count) values ($1::uuid, $2::uuid, 'a', 'csv', md5($2::text) || md5($2::text), 1)
     ), stated as (
       insert into public.bill_statements (workspace_id, id, bill_id, provider, starts_on, ends_on, amount_usd)
       values ($1, $3::uuid, $2, 'aws', '2026-10-05', '2026-10-06', 1)
     ), facts as (
       insert into public.billed_facts (workspace_id, statement_id, line, key_name, end_user, amount_usd, list_usd, tier, quantity)
       select $1, $3, line, key_name, end_user, usd, list, tier, 1
       from jsonb_to_recordset($4) as f (line text, key_name text, end_user text, usd numeric, list numeric, tier text)
     ), account as (
       insert into public.provider_accounts (id, workspace_id, provider, account, since) values ($3, $1, 'cursor', '', '2026-10-01')
     )
     insert into public.provider_limits (workspace_id, account_id, provider, account, kind, target, period, removes)
     select $1, $3, 'cursor', '', 'member', member, 'month', true from unnest($5::text[]) as member`,
    [of, id, statement, JSON.stringify(facts), members],
  );
}

async function erase(name: string): Promise<string> {
  const { rows } = await fixtures.sql.query(
    "insert into public.erasures (workspace_id, end_user) values ($1, $2) returning pseudonym",
    [workspace, name],
  );
  for (let changed: number | null = 0; changed !== null; )
    ({ changed } = (await service.query("select private.erase_some(1000) as changed")).rows[0]);
  return rows[0].pseudonym;
}

const factsOf = async (of: string) =>
  (
    await fixtures.sql.query(
      `select line, key_name, end_user, trim_scale(amount_usd)::text as usd, trim_scale(list_usd)::text as list, tier
       from public.billed_facts where workspace_id = $1 order by amount_usd`,
      [of],
    )
  ).rows as Fact[];
const limitsOf = async (of: string) =>
  (
    await fixtures.sql.query("select target from public.provider_limits where workspace_id = $1 order by 1", [
      of,
    ])
  ).rows.map(({ target }) => target);

const fact = (usd: string, more: Partial<Fact>): Fact => ({
  ...{ line: "tokens", key_name: null, end_user: null, usd, list: null, tier: null as never },
  ...more,
});

test.each(["ada@example.com", "ada"])(
  "Rows and limits of %s are changed in no other workspace",
  async (name) => {
    const own = fact("1", { end_user: name, key_name: `laptop of ${name}` });
    for (const of of [workspace, other]) await bill(of, [own], [name, "bo"]);
    const admin = await createMember(fixtures, workspace, "admin");
    await service.query("begin");
    await actAs(service, { sub: admin.id });
    await service.query("select set_config('role', 'none', true)");
    const { found } = (await service.query("select private.find_person($1, $2) as found", [workspace, name]))
      .rows[0];
    await service.query("commit");
    expect(found).toMatchObject({ billed_count: 1, provider_limits: [name] });

    const pseudonym = await erase(name);
    expect(await factsOf(workspace)).toEqual([
      { ...own, end_user: pseudonym, key_name: `laptop of ${pseudonym}` },
    ]);
    expect(await limitsOf(workspace)).toEqual(["bo"]);
    expect(await factsOf(other)).toEqual([own]);
    expect(await limitsOf(other)).toEqual([name, "bo"]);
  },
);

test("Rows that become alike are summed, with a list price only where each has one, and other tiers stay apart", async () => {
  const address = "ada@example.com";
  await bill(workspace, [
    fact("1", { line: `seat of ${address}`, list: "2" }),
    fact("2.000000000000000001", { line: "seat of ADA@example.com", list: "3" }),
    fact("4", { line: `token of ${address}`, list: "5" }),
    fact("8", { line: "token of Ada@example.com" }),
    fact("16", { line: `token of ${address}`, tier: "batch", list: "17" }),
  ]);
  const pseudonym = await erase(address);
  expect(await factsOf(workspace)).toEqual([
    fact("3.000000000000000001", { line: `seat of ${pseudonym}`, list: "5" }),
    fact("12", { line: `token of ${pseudonym}` }),
    fact("16", { line: `token of ${pseudonym}`, tier: "batch", list: "17" }),
  ]);
});

test("A name that is no address is a word like others in the rows of other people", async () => {
  const others = [
    fact("1", { key_name: "max tokens", line: "max" }),
    fact("2", { end_user: "bo", key_name: "max" }),
    fact("4", { end_user: "Max" }),
  ];
  await bill(workspace, [...others, fact("8", { end_user: "max", key_name: "key of max", line: "maximum" })]);
  const pseudonym = await erase("max");
  expect(await factsOf(workspace)).toEqual([
    ...others,
    fact("8", { end_user: pseudonym, key_name: `key of ${pseudonym}`, line: "maximum" }),
  ]);
});
