import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

type Entry = {
  id: string;
  at: string;
  action: string;
  actor: { user_id: string } | null;
  subject: { kind: string; id: string | null };
  after: { name?: string; description?: string } | null;
};

let team: Team;
let priceId: string;
beforeAll(async () => {
  team = await makeTeam(harness);
  const { owner, admin } = team.users;
  const price = await admin.call("PUT", `${team.path}/prices`, {
    ...{
      provider: "in-house",
      model: "Ranker_7b",
      unit_type: "input_tokens",
      rate: 0.001,
      starts_at: "2026-01-01T00:00:00Z",
    },
  });
  expect(price.status).toBeLessThan(300);
  const { entries } = (await admin.get(`${team.path}/audit?kind=price`)).body;
  const [made] = entries as Entry[];
  priceId = made?.subject.id ?? "";
  for (let times = 0; times < 3; times += 1)
    await admin.call("PATCH", team.path, { description: `Version ${times}` });
  const budget = await owner.call("POST", `${team.path}/budgets`, {
    ...{ name: "100% of all", scope_type: "global", amount: 5 },
  });
  expect(budget.status).toBe(201);
  await admin.call("DELETE", `${team.path}/members/${team.users.colleague.id}`);
});

const read = async (query: Record<string, string>) => {
  const answer = await team.users.admin.get(`${team.path}/audit?${new URLSearchParams(query)}`);
  expect(codeOf(answer)).toBe("200 ok");
  return answer.body as unknown as { entries: Entry[]; next_cursor: string | null };
};
const actions = async (query: Record<string, string>) =>
  (await read(query)).entries.map(({ action }) => action);

describe("The audit log is filtered", () => {
  test("by who made the change, and by the service, which is nobody", async () => {
    const { owner, admin } = team.users;
    expect(await actions({ actor: owner.id })).toEqual(["budget.created"]);
    const byAdmin = await read({ actor: admin.id, limit: "100" });
    expect(byAdmin.entries.length).toBeGreaterThan(4);
    expect(new Set(byAdmin.entries.map(({ actor }) => actor?.user_id))).toEqual(new Set([admin.id]));
    // The team was made by statements without a user.
    expect(new Set((await read({ actor: "", limit: "100" })).entries.map(({ actor }) => actor))).toEqual(
      new Set([null]),
    );
    expect(await actions({ actor: team.users.stranger.id })).toEqual([]);
  });

  test("by the key that made the change, alone and with another filter", async () => {
    const [key, other] = [randomUUID(), randomUUID()];
    const { rows } = await harness.fixtures.sql.query(
      `insert into public.audit_log (workspace_id, at, action, subject, actor_key_id, actor_key, after)
       select $1::uuid, now() - n * interval '1 second', kind || '.changed', kind || ' ' || $1::uuid, key, 'CI',
         jsonb_build_object('name', kind || ' of ' || key)
       from (values (0, 'workspace', $2::uuid), (1, 'budget_request', $2), (2, 'workspace', $3)) as made (n, kind, key)
       returning id`,
      [team.workspace, key, other],
    );
    const idsOf = async (query: Record<string, string>) => (await read(query)).entries.map(({ id }) => id);
    const [changed, asked, byOther] = rows.map(({ id }) => id);
    expect(await idsOf({ key })).toEqual([changed, asked]);
    expect(await idsOf({ key, action: "workspace.changed" })).toEqual([changed]);
    expect(await idsOf({ key, kind: "budget_request" })).toEqual([asked]);
    expect(await idsOf({ key, subject: team.workspace })).toEqual([changed, asked]);
    expect(await idsOf({ key: other, subject: team.workspace })).toEqual([byOther]);
    expect(await idsOf({ key, q: `budget_request of ${key}` })).toEqual([asked]);
    expect(await idsOf({ key, actor: "" })).toEqual([changed, asked]);
    expect(await idsOf({ key, actor: team.users.admin.id })).toEqual([]);
    expect(await idsOf({ key: randomUUID() })).toEqual([]);
  });

  test("by action, by thing, and by several at once", async () => {
    const { admin, colleague } = team.users;
    expect(await actions({ action: "member.deleted" })).toEqual(["member.deleted"]);
    expect(await actions({ subject: priceId })).toEqual(["price.created"]);
    expect(await actions({ subject: colleague.id })).toEqual(["member.deleted", "member.created"]);
    expect(await actions({ subject: colleague.id, actor: admin.id })).toEqual(["member.deleted"]);
    expect(await actions({ kind: "budget", actor: admin.id })).toEqual([]);
    expect(await actions({ kind: "price", actor: admin.id, action: "price.created" })).toHaveLength(1);
  });

  test("by text in the name, address or id of what was changed, before or after, where every character means itself", async () => {
    const { colleague } = team.users;
    expect(await actions({ q: "RANKER_7" })).toEqual(["price.created"]);
    expect(await actions({ q: "ranker%7" })).toEqual([]);
    expect(await actions({ q: "0% of" })).toEqual(["budget.created"]);
    expect(await actions({ q: colleague.email })).toEqual(["member.deleted", "member.created"]);
    expect(await actions({ q: priceId.slice(0, 13) })).toEqual(["price.created"]);
    expect(await actions({ q: "ranker", kind: "budget" })).toEqual([]);
    // The names of fields, and values that name nothing, are not looked through.
    expect(await actions({ q: "unit_type" })).toEqual([]);
    expect(await actions({ q: "Version 1" })).toEqual([]);
  });

  test.each([
    ...["name", "slug", "email", "client_name", "pseudonym", "rule", "scope_value"],
    ...["provider", "model", "unit_type", "message.vendor"],
  ])("by text in the field %s, which names a thing", async (path) => {
    const named = path.split(".").reduceRight<unknown>((value, field) => ({ [field]: value }), `The ${path}`);
    const { rows } = await harness.fixtures.sql.query(
      `insert into public.audit_log (workspace_id, action, subject, before)
       values ($1, 'workspace.changed', 'workspace ' || $1::uuid, $2) returning id`,
      [team.workspace, JSON.stringify(named)],
    );
    const { entries } = await read({ q: `the ${path}` });
    expect(entries.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });

  test("by UTC days, both of which belong to it", async () => {
    const past = await makeTeam(harness);
    const { rows } = await harness.fixtures.sql.query(
      `insert into public.audit_log (workspace_id, at, action, subject)
       select $1::uuid, at, 'workspace.changed', 'workspace ' || $1::uuid
       from unnest(array['2026-03-01T00:00:00Z', '2026-03-02T23:59:59.999999Z', '2026-03-03T00:00:00Z']::timestamptz[]) as at
       returning id`,
      [past.workspace],
    );
    const list = async (query: string) => {
      const { body } = await past.users.admin.get(`${past.path}/audit?order=oldest&limit=3${query}`);
      return (body.entries as Entry[]).map(({ id }) => id);
    };
    const ids = rows.map(({ id }) => id);
    expect(await list("&from=2026-03-01&to=2026-03-02")).toEqual(ids.slice(0, 2));
    expect(await list("&to=2026-03-01")).toEqual(ids.slice(0, 1));
    expect(await list("&from=2026-03-02")).toEqual(expect.arrayContaining(ids.slice(1)));
  });
});

test("Lists the oldest first in the reverse order, page by page, without gaps or repetitions", async () => {
  const all = (await read({ limit: "100" })).entries.map(({ id }) => id);
  const paged: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await read({ order: "oldest", limit: "2", ...(cursor !== null && { cursor }) });
    paged.push(...page.entries.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(paged.length).toBeGreaterThan(8);
  // What a job of the service has recorded meanwhile is the newest, and listed last.
  expect(paged.slice(0, all.length)).toEqual(all.toReversed());
  expect(new Set(paged).size).toBe(paged.length);
});

test.each([
  ["actor=ada", "actor"],
  ["key=", "key"],
  ["action=everything", "action"],
  ["kind=Not%20One", "kind"],
  ["order=sideways", "order"],
  ["from=yesterday", "from"],
  ["to=2026-02-30", "to"],
  ["from=2026-03-02&to=2026-03-01", "to"],
  [`q=${"x".repeat(101)}`, "q"],
  ["q=", "q"],
  [`subject=${"x".repeat(201)}`, "subject"],
  ["who=ada", "who"],
])("Refuses %s, naming the parameter", async (query, name) => {
  const answer = await team.users.admin.get(`${team.path}/audit?${query}`);
  expect(codeOf(answer)).toBe("400 validation_failed");
  expect(answer.body.error_description).toMatch(new RegExp(`^query\\.${name}: |"${name}"|\\b${name}$`));
});

test("Shows nothing to those who may not read it, however they ask", async () => {
  const { member, viewer, stranger } = team.users;
  const asked = `${team.path}/audit?q=ranker&kind=price&order=oldest`;
  expect(codeOf(await member.get(asked))).toBe("403 permission_denied");
  expect(codeOf(await viewer.get(asked))).toBe("403 permission_denied");
  expect(codeOf(await stranger.get(asked))).toBe("404 not_found");
  const { secret } = await harness.fixtures.key(team.workspace);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
  expect((await client.get(asked)).status).toBe(401);
  // Another workspace's admin finds nothing of this one, neither by text nor by id.
  const other = await makeTeam(harness);
  for (const query of ["q=ranker", `subject=${priceId}`, `actor=${team.users.admin.id}`]) {
    const { body } = await other.users.admin.get(`${other.path}/audit?${query}`);
    expect(body).toEqual({ entries: [], next_cursor: null });
  }
});
