import { beforeEach, describe, expect, test } from "vitest";
import { crossing, raiseLasting } from "@/tests/helpers/alerts";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// The inbox: what it lists, and who may assign, resolve and snooze what is in it.

const harness = withSharedHarness();
let team: Team;

beforeEach(async () => {
  team = await makeTeam(harness);
});

type Who = keyof Team["users"];
type Entry = {
  id: string;
  status: string;
  title: string;
  subject: { id: string; name: string };
  assignee: { user_id: string } | null;
  resolved: { because: string; by: { user_id: string } | null } | null;
  snooze: { id: string } | null;
  course: { title: string; level: string }[];
};
type Counts = { open: number; snoozed: number; mine: number };
type List = {
  entries: Entry[];
  next_cursor: string | null;
  counts: Counts;
  can_change: boolean;
  can_snooze: boolean;
};

const list = async (query = "", who: Who = "viewer") =>
  (await team.users[who].get(`${team.path}/alerts/inbox${query}`)).body as List;
const change = (id: string, body: Record<string, unknown>, who: Who = "member") =>
  team.users[who].call("PATCH", `${team.path}/alerts/inbox/${id}`, body);
const raiseLevels = (subject: string, ...levels: string[]) =>
  raiseLasting(
    harness.fixtures,
    ...levels.map((level) =>
      crossing(team.workspace, { subject_id: subject, level, details: { budget: subject } }),
    ),
  );
const onlyEntry = async (): Promise<Entry> => {
  const { entries } = await list("?status=all");
  expect(entries).toHaveLength(1);
  return entries[0] as Entry;
};
const errorOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => {
  const [issue] = (body.issues as { path: string }[] | undefined) ?? [];
  return `${status} ${body.error}${issue ? ` ${issue.path}` : ""}`;
};
const audited = async () =>
  (
    await harness.fixtures.sql.query(
      `select actor_email, before ->> 'assignee' as had, after ->> 'assignee' as has, after ->> 'resolved_at' is not null as resolved
       from public.audit_log where workspace_id = $1 and action = 'alert_entry.changed' order by at`,
      [team.workspace],
    )
  ).rows;

describe("The inbox", () => {
  test("Has one entry for a budget that passed three thresholds, with its course, its money and what to do", async () => {
    await raiseLevels("b1", "50", "80", "100");
    const { entries, counts } = await list();
    expect(counts).toEqual({ open: 1, snoozed: 0, mine: 0 });
    expect(entries).toMatchObject([
      {
        status: "open",
        severity: "critical",
        title: "The budget b1 is used up",
        figures: { spent_usd: 80.01, amount_usd: 100 },
        advice: expect.stringContaining("raise the budget"),
        links: [
          { url: expect.stringContaining("/budgets#budget-b1") },
          { url: expect.stringContaining("/activity?") },
        ],
        course: [{ level: "100" }, { level: "80" }, { level: "50" }],
      },
    ]);
    const [entry] = entries;
    expect((await team.users.viewer.get(`${team.path}/alerts/inbox/${entry?.id}`)).body).toEqual(entry);
  });

  test("Lists open, snoozed and resolved entries and those of a member apart, page by page", async () => {
    for (const subject of ["b1", "b2", "b3", "b4"]) await raiseLevels(subject, "80");
    const ids = Object.fromEntries((await list()).entries.map(({ id, subject }) => [subject.id, id]));
    await change(ids.b1 ?? "", { resolved: true });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await team.users.admin.call("POST", `${team.path}/alert-snoozes`, {
      rule: "budget_threshold",
      subject_id: "b2",
      until,
    });
    for (const id of [ids.b2, ids.b3]) await change(id ?? "", { assignee_id: team.users.member.id });
    const subjects = async (query: string) =>
      (await list(query, "member")).entries.map(({ subject }) => subject.id);
    expect(await subjects("")).toEqual(["b4", "b3"]);
    expect(await subjects("?status=snoozed")).toEqual(["b2"]);
    expect(await subjects("?status=resolved")).toEqual(["b1"]);
    expect(await subjects("?status=all")).toEqual(["b4", "b3", "b2", "b1"]);
    expect(await subjects("?assignee=me")).toEqual(["b3"]);
    expect(await subjects(`?assignee=${team.users.member.id}`)).toEqual(["b3"]);
    expect(await subjects("?assignee=nobody")).toEqual(["b4"]);
    expect((await list("", "member")).counts).toEqual({ open: 2, snoozed: 1, mine: 1 });
    const first = await list("?limit=1");
    expect(first.entries.map(({ subject }) => subject.id)).toEqual(["b4"]);
    expect(await subjects(`?limit=1&cursor=${first.next_cursor}`)).toEqual(["b3"]);
    const wrong = await team.users.viewer.get(`${team.path}/alerts/inbox?assignee=someone`);
    expect(errorOf(wrong)).toBe("400 validation_failed query.assignee");
  });

  test("Is changed by members and not by viewers, who read it; strangers see nothing", async () => {
    await raiseLevels("b1", "80");
    const { id } = await onlyEntry();
    expect(errorOf(await change(id, { resolved: true }, "viewer"))).toBe("403 permission_denied");
    expect(errorOf(await change(id, { resolved: true }, "stranger"))).toBe("404 not_found");
    expect((await onlyEntry()).status).toBe("open");
    expect([(await list()).can_change, (await list()).can_snooze]).toEqual([false, false]);
    const asMember = await list("", "member");
    expect([asMember.can_change, asMember.can_snooze]).toEqual([true, false]);
    const other = await makeTeam(harness);
    const foreign = await other.users.owner.call("PATCH", `${other.path}/alerts/inbox/${id}`, {
      resolved: true,
    });
    expect(errorOf(foreign)).toBe("404 not_found");
  });
});

describe("An entry", () => {
  test("Is assigned to members of the workspace alone, and to nobody when they are removed", async () => {
    await raiseLevels("b1", "80");
    const { id } = await onlyEntry();
    expect(errorOf(await change(id, { assignee_id: team.users.stranger.id }))).toBe(
      "400 validation_failed assignee_id",
    );
    const { body } = await change(id, { assignee_id: team.users.colleague.id });
    expect(body.assignee).toMatchObject({ user_id: team.users.colleague.id });
    const removed = await team.users.admin.call("DELETE", `${team.path}/members/${team.users.colleague.id}`);
    expect(removed.status).toBeLessThan(300);
    expect((await onlyEntry()).assignee).toBeNull();
  });

  test("Is resolved once by members who resolve it at the same time, and audited once", async () => {
    await raiseLevels("b1", "80");
    const { id } = await onlyEntry();
    const answers = await Promise.all(
      (["member", "colleague", "admin", "owner"] as const).flatMap((who) => [
        change(id, { resolved: true }, who),
        change(id, { resolved: true }, who),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const resolvers = new Set(answers.map(({ body }) => (body as unknown as Entry).resolved?.by?.user_id));
    expect(resolvers.size).toBe(1);
    expect(await audited()).toHaveLength(1);
  });

  test("Opens again by hand where a member resolved it, and by itself when a higher threshold fires", async () => {
    await raiseLevels("b1", "50");
    const { id } = await onlyEntry();
    await change(id, { resolved: true, assignee_id: team.users.member.id });
    expect((await change(id, { resolved: false })).body).toMatchObject({ status: "open", resolved: null });
    await change(id, { resolved: true });
    await raiseLevels("b1", "80");
    expect(await onlyEntry()).toMatchObject({
      id,
      status: "open",
      resolved: null,
      assignee: { user_id: team.users.member.id },
      course: [{ level: "80" }, { level: "50" }],
    });
    const { email } = team.users.member;
    expect(await audited()).toEqual([
      { actor_email: email, had: null, has: email, resolved: true },
      { actor_email: email, had: email, has: email, resolved: false },
      { actor_email: email, had: email, has: email, resolved: true },
    ]);
  });

  test("Resolves by itself when an admin raises the budget above its spend, and cannot be opened then", async () => {
    const made = await team.users.admin.call("POST", `${team.path}/budgets`, {
      scope_type: "global",
      amount: 100,
    });
    const { secret } = await harness.fixtures.key(team.workspace);
    await apiClient(harness.services[0]?.baseUrl ?? "", secret).post(costMessage({ estimated_cost: 105 }));
    expect(await onlyEntry()).toMatchObject({ status: "open", title: expect.stringContaining("is used up") });
    await team.users.admin.call("PATCH", `${team.path}/budgets/${made.body.id}`, { amount: 400 });
    const entry = await onlyEntry();
    expect(entry).toMatchObject({ status: "resolved", resolved: { because: "recovered", by: null } });
    expect(errorOf(await change(entry.id, { resolved: false }))).toBe("409 conflict");
    expect(await audited()).toEqual([]);
  });
});
