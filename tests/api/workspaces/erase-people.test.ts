import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { costMessage } from "@/tests/helpers/client";
import { foldPastDays } from "@/tests/helpers/folds";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();
const rows = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;

const anna = 'anna "ä" <anna@example.com>';
const day = (month: number) => `2026-0${month}-14T08:00:00Z`;

/** A workspace in which a person is named wherever one can be. */
async function nameEverywhere() {
  const team = await makeTeam(harness);
  const client = await clientIn(harness, team.workspace);
  const line = { model: "m", unit_type: "requests", quantity: 1, estimated_cost: 1 };
  const keyed = [
    costMessage({ user: anna, session: "s", tags: { team: "growth" } }, { idempotency_key: "usage" }),
    {
      project: "search",
      source: "api",
      idempotency_key: "batch",
      message: {
        ...{ type: "batch", provider: "p", batch_id: "b", occurred_at: day(3) },
        items: [{ ...line, user: anna }, { ...line, user: "bo" }, line, { ...line, user: anna }],
      },
    },
  ];
  const messages = [
    ...keyed,
    costMessage({ user: anna, included: true, occurred_at: day(2) }),
    costMessage({ user: anna, occurred_at: day(1), tags: { team: "growth" } }),
    costMessage({ user: "bo" }),
    costMessage({}),
  ];
  const { body } = await client.call("POST", "/api/v1/messages/batch", { messages });
  expect(body).toMatchObject({ recorded: 6 });
  // One after the other, so that between them what they come to is nothing while more of them follow.
  for (const quantity of [1, 2]) {
    const { body } = await client.post(costMessage({ user: anna, occurred_at: day(4), quantity }));
    await rows(
      "insert into public.message_voids (workspace_id, message_id, reason) values ($1, $2, 'Recorded twice.')",
      [team.workspace, body.id],
    );
  }
  const { owner } = team.users;
  const budget = { scope_type: "user", scope_value: anna, amount: 10 };
  expect((await owner.call("POST", `${team.path}/budgets`, budget)).status).toBe(201);
  await rows(
    `insert into public.alerts (workspace_id, rule, subject_type, subject_id, period, level, details)
     values ($1, 'budget_threshold', 'budget', gen_random_uuid(), '2026-11-01', '80', jsonb_build_object('scope_value', $2::text))`,
    [team.workspace, anna],
  );
  const bill = ["day,amount,provider,user,key", `2026-05-14,4,cursor,"${anna.replaceAll('"', '""')}",prod`];
  const billed = { name: "may.csv", content: bill.join("\n") };
  expect((await owner.call("POST", `${team.path}/bills`, billed)).status).toBe(201);
  const key = await owner.call("POST", `${team.path}/api-keys`, {
    ...{ name: "Agent", permissions: ["log_usage"], conditions: { users: [anna, "bo"] } },
  });
  expect(key.status).toBe(201);
  return { ...team, client, keyed, keyId: String(key.body.id) };
}

/** The tables of a workspace whose rows have the name. */
async function namedIn(workspace: string): Promise<string[]> {
  const tables = await rows(
    `select c.oid::regclass::text as name from pg_class as c
     join pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace::regnamespace::text in ('public', 'private')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [{ count }] = (await rows(
      `select count(*)::int as count from ${name} as t where workspace_id = $1 and to_jsonb(t)::text like '%anna@example.com%'`,
      [workspace],
    )) as [{ count: number }];
    if (count > 0) found.push(name);
  }
  return found.sort();
}

/** All stored sums of a workspace, without the names of people. */
const sums = async (workspace: string) =>
  rows(
    `select 'spend' as of, day::text, environment, type, tags::text, sum(amount_usd)::text as amount, sum(message_count) as messages,
       sum(item_count) as items, sum(included_usd)::text as included
     from public.daily_spend where workspace_id = $1 group by 1, 2, 3, 4, 5
     union all
     select dimension, day::text, environment, type, case when dimension <> 'user' then value end, sum(amount_usd)::text,
       sum(message_count), 0, sum(included_usd)::text
     from public.daily_totals where workspace_id = $1 group by 1, 2, 3, 4, 5
     order by 1, 2, 3, 4, 5`,
    [workspace],
  );

describe("Erasing a person", () => {
  test("Puts a pseudonym in the place of the name everywhere; rows and sums stay", async () => {
    const { workspace, path, users, client, keyed, keyId } = await nameEverywhere();
    await foldPastDays(harness.fixtures);
    expect(await namedIn(workspace)).toEqual([
      "alerts",
      "api_keys",
      "audit_log",
      "billed_facts",
      "budgets",
      "daily_spend",
      "daily_totals",
      "messages",
      "monthly_spend",
      "monthly_totals",
      "private.idempotency",
    ]);
    const before = await sums(workspace);
    const { status, body } = await users.admin.call("POST", `${path}/people/erasures`, { user: anna });
    expect(status).toBe(202);
    const { pseudonym } = body as { pseudonym: string };
    expect(pseudonym).toMatch(/^erased-[0-9a-f]{12}$/);
    await expect
      .poll(async () => (await users.admin.get(`${path}/people/erasures`)).body, { timeout: 30_000 })
      .toMatchObject({ erasures: [{ status: "done", changed_count: 9, pseudonym }] });

    expect(await namedIn(workspace)).toEqual([]);
    expect(await sums(workspace)).toEqual(before);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    const metrics = await users.viewer.get(
      `${path}/metrics?period=range&from=2026-01-01&to=2026-12-31&user=${pseudonym}`,
    );
    expect(metrics.body).toMatchObject({ totals: { total_usd: 2.02, included_usd: 0.01 } });
    const budgets = await users.viewer.get(`${path}/budgets`);
    expect(budgets.body).toMatchObject({ budgets: [{ name: pseudonym, scope: { value: pseudonym } }] });
    const { body: reconciled } = await users.viewer.get(`${path}/reconciliation?month=2026-05`);
    expect(reconciled).toMatchObject({ detail: { users: [{ user: pseudonym, billed_usd: 4 }] } });
    const [key] = await rows("select conditions from public.api_keys where id = $1", [keyId]);
    expect(key.conditions).toEqual({ users: [pseudonym, "bo"] });
    const audit = await users.owner.get(`${path}/audit?kind=person`);
    expect(audit.body.entries).toMatchObject([
      { action: "person.erased", actor: { email: users.admin.email }, after: { pseudonym }, before: null },
    ]);

    // Late retries are recognised, and bring nothing back.
    for (const message of keyed) {
      const again = await client.post(message);
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    }
    expect((await client.post({ ...keyed[0], project: "other" })).status).toBe(409);
    expect(await namedIn(workspace)).toEqual([]);
  });

  test("Finds the name inside texts and, of an address, in other letter case, and says before where it stands", async () => {
    const { workspace, path, users } = await makeTeam(harness);
    const client = await clientIn(harness, workspace);
    const eve = "eve+x@example.com";
    const retried = costMessage({ user: "Eve+X@Example.com" }, { idempotency_key: "eve" });
    const worded = [
      costMessage(
        { label: `For ${eve}`, session: eve, metadata: { by: `"${eve}"`, [eve]: 1 }, tags: { owner: eve } },
        { idempotency_key: "worded" },
      ),
      {
        ...{ project: "search", source: "api", idempotency_key: "noted" },
        message: { type: "expense", vendor: "Figma", amount: 1, notes: `Asked for\n${eve.toUpperCase()}.` },
      },
    ];
    for (const message of [
      costMessage({ user: eve, tags: { owner: eve } }),
      retried,
      ...worded,
      costMessage({ user: "steve+x@example.com", label: eve }),
    ])
      expect((await client.post(message)).status).toBe(201);
    const budget = (body: object) =>
      users.owner.call("POST", `${path}/budgets`, { amount: 10, allow_unknown_scope: true, ...body });
    await budget({ scope_type: "global", name: `Team of EVE+X@example.com, and steve+x@example.com` });
    await budget({
      scope_type: "user",
      scope_value: "EVE+x@example.com",
      name: "Hers",
    });
    await rows("select private.raise_alerts($1)", [
      JSON.stringify([
        {
          ...{
            workspace_id: workspace,
            rule: "budget_threshold",
            subject_type: "budget",
            subject_id: "b",
            period: "2026-11-01",
          },
          ...{
            level: "80",
            is_quiet: true,
            details: { budget: `Of ${eve}`, scope_type: "global", percent: "80" },
          },
        },
      ]),
    ]);
    const role = "arn:aws:sts::111:assumed-role/Dev";
    const bill = [
      "day,amount,quantity,provider,user,key,line",
      `2026-10-05,1.000000000000000001,2,aws,EVE+x@example.com,${role}/${eve},tokens`,
      `2026-10-05,2,3,aws,${eve},${role}/Eve+X@Example.com,tokens`,
      `2026-10-05,4,5,aws,,prod,Seat of ${eve}`,
      "2026-10-05,8,7,aws,steve+x@example.com,prod,tokens",
    ];
    const billed = { name: "october.csv", content: bill.join("\n") };
    expect((await users.owner.call("POST", `${path}/bills`, billed)).status).toBe(201);
    // Two limits of hers: as a member, and of a key whose name contains the address. The third is another person's.
    await rows(
      `with account as (
         insert into public.provider_accounts (id, workspace_id, provider, account, since) values (gen_random_uuid(), $1, 'cursor', '', '2026-10-01') returning id
       )
       insert into public.provider_limits (workspace_id, account_id, provider, account, kind, target, target_name, period, removes)
       select $1, account.id, 'cursor', '', kind, target, name, 'month', true
       from account, (values
         ('member', 'user_1', 'Eve+X@example.com'), ('key', 'hash', $2), ('member', 'steve+x@example.com', 'steve+x@example.com')
       ) as made (kind, target, name)`,
      [workspace, `Laptop of ${eve}`],
    );
    const preview = await users.admin.call("POST", `${path}/people/erasures/preview`, { user: eve });
    expect([preview.status, preview.body]).toEqual([
      200,
      {
        spellings: ["Eve+X@Example.com", eve].sort(),
        message_count: 2,
        billed_count: 3,
        budgets: ["Hers", "Team of EVE+X@example.com, and steve+x@example.com"],
        api_keys: [],
        provider_limits: ["Eve+X@example.com", `Laptop of ${eve}`],
        alert_count: 1,
        audit_count: expect.any(Number),
        request_count: 3,
        stays: {
          tags: [`owner:${eve}`],
          not_searched: expect.arrayContaining([expect.stringContaining("labels")]),
        },
      },
    ]);
    const { body } = await users.admin.call("POST", `${path}/people/erasures`, { user: eve });
    const pseudonym = String(body.pseudonym);
    await expect
      .poll(async () => (await users.admin.get(`${path}/people/erasures`)).body, { timeout: 30_000 })
      .toMatchObject({
        erasures: [
          { status: "done", pseudonym },
          { status: "done", pseudonym },
        ],
      });
    const text = async (sql: string) => JSON.stringify(await rows(sql, [workspace])).toLowerCase();
    const named = /(?<!st)eve\+x@example/;
    for (const table of ["budgets", "alerts", "audit_log", "api_keys", "billed_facts", "provider_limits"])
      expect(await text(`select * from public.${table} where workspace_id = $1`), table).not.toMatch(named);
    expect(await text("select * from private.idempotency where workspace_id = $1")).not.toMatch(named);
    expect(await text("select name from public.budgets where workspace_id = $1 order by 1")).toContain(
      `team of ${pseudonym}, and steve+x@example.com`,
    );
    expect(
      await rows("select target from public.provider_limits where workspace_id = $1", [workspace]),
    ).toEqual([{ target: "steve+x@example.com" }]);
    // Rows of a bill that are alike without the spelling become one; nothing of its amounts is lost.
    expect(
      await rows(
        `select end_user, key_name, line, trim_scale(amount_usd)::text as usd, quantity::int
         from public.billed_facts where workspace_id = $1 order by quantity, line collate "C"`,
        [workspace],
      ),
    ).toEqual([
      { end_user: null, key_name: "prod", line: `Seat of ${pseudonym}`, usd: "4", quantity: 5 },
      {
        ...{ end_user: pseudonym, key_name: `${role}/${pseudonym}`, line: "tokens" },
        ...{ usd: "3.000000000000000001", quantity: 5 },
      },
      { end_user: "steve+x@example.com", key_name: "prod", line: "tokens", usd: "8", quantity: 7 },
    ]);
    // The tag and the label of somebody else's message stay, as the preview says; a retry is recognised.
    const people = await rows(
      "select distinct end_user from public.messages where workspace_id = $1 and end_user is not null order by 1",
      [workspace],
    );
    expect(people.map(({ end_user }) => end_user)).toEqual([pseudonym, "steve+x@example.com"]);
    for (const message of [retried, ...worded]) {
      const again = await client.post(message);
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    }
    const changed = { ...worded[1], message: { ...worded[1]?.message, amount: 2 } };
    expect((await client.post(changed)).status).toBe(409);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
  });

  test("Is for admins alone", async () => {
    const { path, users, workspace } = await makeTeam(harness);
    for (const [who, expected] of [
      ["member", 403],
      ["viewer", 403],
      ["stranger", 404],
    ] as const) {
      for (const method of ["GET", "POST"] as const) {
        const body = method === "POST" ? { user: anna } : undefined;
        const { status } = await users[who].call(method, `${path}/people/erasures`, body);
        expect(status, `${method} of a ${who}`).toBe(expected);
      }
    }
    expect(await rows("select from public.erasures where workspace_id = $1", [workspace])).toEqual([]);
  });
});

describe("In steps, without the jobs of the services on this database", () => {
  const execute = "execute on function private.erase_some(integer)";
  beforeAll(() => rows(`revoke ${execute} from outlay_service`));
  afterAll(() => rows(`grant ${execute} to outlay_service`));

  test("Leaves messages and sums in agreement after each step, and forgets the name with the last", async () => {
    const { workspace } = await nameEverywhere();
    const other = await nameEverywhere();
    // What is left of messages that were removed: sums without messages.
    await rows("delete from public.messages where workspace_id = $1 and end_user = $2 and occurred_at < $3", [
      workspace,
      anna,
      day(2),
    ]);
    const before = await sums(workspace);
    const differences = await ledgerDifferences(harness.fixtures, workspace);
    await rows("insert into public.erasures (workspace_id, end_user) values ($1, $2)", [workspace, anna]);
    for (let steps = 1; ; steps += 1) {
      const [{ changed }] = (await rows("select private.erase_some(1) as changed")) as [
        { changed: number | null },
      ];
      expect(await sums(workspace)).toEqual(before);
      const now = await ledgerDifferences(harness.fixtures, workspace);
      // The messages that were removed are the only difference, whoever they are of by now.
      expect(now.length).toBe(differences.length);
      if (changed === null) {
        expect(steps).toBeGreaterThan(7);
        break;
      }
      expect(steps).toBeLessThan(40);
    }
    expect(await namedIn(workspace)).toEqual([]);
    expect((await namedIn(other.workspace)).length).toBe(9);
  });
});
