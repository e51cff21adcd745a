import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { foldPastDays } from "@/tests/helpers/folds";
import { withHarness } from "@/tests/helpers/harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

// As behind a reverse proxy on this machine, so that a test's callers have addresses.
const harness = withHarness({ settings: { TRUSTED_PROXIES: "127.0.0.1/32" } });
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

let team: Team;
beforeAll(async () => {
  team = await makeTeam(harness);
});

describe("Projects", () => {
  type Project = { slug: string; name: string; archived_at: string | null } & Record<string, unknown>;
  const list = async (user: User) => (await user.get(`${team.path}/projects`)).body.projects as Project[];
  const change = (user: User, slug: string, body: unknown) =>
    user.call("PATCH", `${team.path}/projects/${slug}`, body);
  let record: (slug: string, cost: number, occurredAt?: Date) => Promise<Answer>;

  beforeAll(async () => {
    const [live, trial] = await Promise.all(
      (["live", "test"] as const).map(async (environment) =>
        apiClient(baseUrl(), (await harness.fixtures.key(team.workspace, { environment })).secret),
      ),
    );
    record = async (slug, cost, occurredAt = new Date()) => {
      const message = { estimated_cost: cost, occurred_at: occurredAt.toISOString() };
      await trial?.post(costMessage({ ...message, estimated_cost: 99 }, { project: slug }));
      return live?.post(costMessage(message, { project: slug })) as Promise<Answer>;
    };
  });

  test("Are listed with this month's and all spend and their last activity, live only", async () => {
    const lastMonth = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 3));
    await record("search", 0.25);
    await record("search", 0.5);
    await record("search", 7, lastMonth);
    await record("old", 3, lastMonth);
    const [old, search] = (await list(team.users.viewer)).sort((a, b) => (a.slug < b.slug ? -1 : 1));
    expect(search).toMatchObject({
      slug: "search",
      name: "search",
      month_usd: 0.75,
      month_message_count: 2,
      message_count: 3,
      last_activity_on: new Date().toISOString().slice(0, 10),
    });
    expect(old).toMatchObject({
      month_usd: 0,
      month_message_count: 0,
      message_count: 1,
      last_activity_on: lastMonth.toISOString().slice(0, 10),
    });
  });

  test("Are renamed and archived by members; an archived one counts, records and stays archived", async () => {
    await record("shop", 1);
    expect(codeOf(await change(team.users.viewer, "shop", { archived: true }))).toBe("403 permission_denied");
    expect(codeOf(await change(team.users.stranger, "shop", { archived: true }))).toBe("404 not_found");
    expect(codeOf(await change(team.users.member, "no-such", { archived: true }))).toBe("404 not_found");
    const { body } = await change(team.users.member, "shop", { name: "The shop", archived: true });
    expect(body).toMatchObject({ slug: "shop", name: "The shop", month_usd: 1 });
    expect(body.archived_at).toEqual(expect.any(String));
    expect((await record("shop", 2)).status).toBe(201);
    const again = await change(team.users.member, "shop", { archived: true });
    expect(again.body).toMatchObject({ archived_at: body.archived_at, month_usd: 3 });
    expect((await list(team.users.viewer)).at(-1)).toMatchObject({ slug: "shop" });
    expect((await team.users.viewer.get(`${team.path}/org`)).body).toMatchObject({ counts: { projects: 2 } });
    expect((await change(team.users.member, "shop", { archived: false })).body).toMatchObject({
      name: "The shop",
      archived_at: null,
    });
  });

  test("Are listed with the same figures when past days are folded", async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    for (const days of [4, 5, 11, 200]) await record(`folded-${days % 2}`, days, daysAgo(days));
    await record("folded-1", 3, daysAgo(9));
    await record("folded-1", 1);
    // Each weekday is the only one of a project.
    for (let days = 20; days < 27; days += 1) await record(`weekday-${days}`, 1, daysAgo(days));
    const before = await list(team.users.viewer);
    await foldPastDays(harness.fixtures);
    const { rows } = await harness.fixtures.sql.query(
      "select from public.spend_folds where workspace_id = $1 and folded_until > (now() at time zone 'UTC')::date - 4",
      [team.workspace],
    );
    expect(rows).toHaveLength(1);
    expect(await list(team.users.viewer)).toEqual(before);
  });

  test("Count what is booked later in the month apart from what is spent", async () => {
    await record("ahead", 2);
    await harness.fixtures.sql.query(
      `select private.add_daily_spend(array_agg(row(
         $1::uuid, day, id, null, 'subscription', 'Vendor', null, null, 'manual', 'live', 5, 1, 1, 0, null, null, 0
       )::public.daily_spend))
       from public.projects cross join generate_series(
         (now() at time zone 'UTC')::date + 1, (now() at time zone 'UTC')::date + 31, '1 day'
       ) as day
       where workspace_id = $1 and slug = 'ahead'`,
      [team.workspace],
    );
    const found = (await list(team.users.viewer)).find(({ slug }) => slug === "ahead");
    expect(found).toMatchObject({ month_usd: 2, month_message_count: 1, message_count: 32 });
    const metrics = await team.users.viewer.get(`${team.path}/metrics?project=ahead`);
    expect(metrics.body).toMatchObject({ totals: { total_usd: 2, message_count: 1 } });
  });
});

describe("The audit log", () => {
  type Entry = { action: string; address: string | null; at: string; id: string } & Record<string, unknown>;
  type Page = { entries: Entry[]; next_cursor: string | null };
  const read = async (user: User, query = "", path = team.path) =>
    (await user.get(`${path}/audit${query}`)).body as unknown as Page;

  test("Records who changed what, before and after, when and from where", async () => {
    const { path, users } = await makeTeam(harness);
    const from = { "x-forwarded-for": "203.0.113.9" };
    await users.admin.call("PATCH", `${path}/members/${users.viewer.id}`, { role: "member" }, from);
    await users.admin.call("PATCH", path, { name: "Renamed" }, { "x-forwarded-for": "2001:db8::7" });
    const { entries } = await read(users.admin, "?limit=2", path);
    expect(entries[0]).toMatchObject({
      action: "workspace.changed",
      subject: { kind: "workspace" },
      before: { name: path.split("/").at(-1) },
      after: { name: "Renamed" },
      address: "2001:db8::7",
    });
    expect(entries[1]).toMatchObject({
      action: "member.changed",
      actor: { user_id: users.admin.id, email: users.admin.email },
      subject: { kind: "member", id: users.viewer.id },
      before: { role: "viewer", email: users.viewer.email },
      after: { role: "member", email: users.viewer.email },
      address: "203.0.113.9",
    });
    expect(Math.abs(Date.parse(entries[1]?.at ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("Has an entry for every kind of change of people and projects, and never a secret", async () => {
    const { owner, admin, member, colleague } = team.users;
    const { link } = (await admin.call("POST", `${team.path}/invitations`, { role: "viewer" })).body;
    const token = String(link).split("/").at(-1) ?? "";
    await team.users.stranger.call("POST", `/api/v1/invitations/${token}/accept`);
    const second = await admin.call("POST", `${team.path}/invitations`, { role: "viewer" });
    const { id } = second.body.invitation as { id: string };
    await admin.call("DELETE", `${team.path}/invitations/${id}`);
    await member.call("DELETE", `${team.path}/members/${member.id}`);
    await owner.call("POST", `${team.path}/transfer`, { user_id: colleague.id });
    const { secret } = (
      await admin.call("POST", `${team.path}/api-keys`, { name: "CI", permissions: ["log_usage"] })
    ).body;
    const { entries } = await read(owner, "?limit=100");
    const actions = new Set(entries.map(({ action }) => action));
    for (const action of [
      "invitation.created",
      "invitation.changed",
      "invitation.deleted",
      "member.created",
      "member.changed",
      "member.deleted",
      "project.changed",
      "api_key.created",
    ])
      expect(actions, action).toContain(action);
    const { rows } = await harness.fixtures.sql.query(
      "select encode(hash, 'hex') as hash from private.invitation_secrets union all select encode(hash, 'hex') from private.api_key_secrets",
    );
    const text = JSON.stringify(entries);
    for (const hidden of [token, String(secret), ...rows.map(({ hash }) => hash)])
      expect(text).not.toContain(hidden);
  });

  test("Pages without gaps or repetitions, also within one instant", async () => {
    const all = (await read(team.users.admin, "?limit=100")).entries.map(({ id }) => id);
    const paged: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Page = await read(team.users.admin, `?limit=3${cursor && `&cursor=${cursor}`}`);
      paged.push(...page.entries.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(paged.length).toBeGreaterThan(8);
    // What a job of the service has recorded meanwhile is the newest, and listed first.
    expect(paged.slice(-all.length)).toEqual(all);
    expect(new Set(paged).size).toBe(paged.length);
    const members = await read(team.users.admin, "?kind=member&limit=100");
    expect(new Set(members.entries.map(({ action }) => action.split(".")[0]))).toEqual(new Set(["member"]));
  });

  test.each(["?cursor=nonsense", "?limit=0", "?limit=101", "?kind=Not%20One"])(
    "Refuses %s",
    async (query) => {
      const answer = await team.users.admin.get(`${team.path}/audit${query}`);
      expect(codeOf(answer)).toBe("400 validation_failed");
    },
  );
});
