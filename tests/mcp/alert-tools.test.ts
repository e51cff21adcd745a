import { beforeEach, describe, expect, test } from "vitest";
import { crossing, raiseLasting } from "@/tests/helpers/alerts";
import { apiClient } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";

// The tools for alerts act in the name of the person who connected the program, as far as their role and the connection allow.

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
let team: Team;

beforeEach(async () => {
  team = await makeTeam(harness);
  await raiseLasting(harness.fixtures, crossing(team.workspace, { subject_id: "b1", level: "80" }));
});

type Who = keyof Team["users"];
type Entry = {
  id: string;
  status: string;
  assignee: { user_id: string } | null;
  snooze: { until: string } | null;
  resolved: { by: { user_id: string } | null } | null;
  links: { url: string }[];
};
type Answer = { isError?: boolean; content: { text: string }[]; structuredContent: unknown };
type KeyOptions = Parameters<typeof harness.fixtures.key>[1];

/** Connects a program for a member, with every permission of its tools unless others are given. @returns a caller of its tools */
async function connect(who: Who, more: KeyOptions = {}, kind = "connection") {
  const { secret } = await harness.fixtures.key(team.workspace, {
    ...{ permissions: ["log_usage", "read_summaries", ...(kind === "connection" ? ["manage_alerts"] : [])] },
    ...{ kind, created_by: team.users[who].id },
    ...more,
  } as KeyOptions);
  const client = apiClient(baseUrl(), secret);
  return async (name: string, args: Record<string, unknown> = {}) => {
    const { body, headers } = toolCall("2026", name, args);
    const { result } = (await client.call("POST", "/api/mcp", body, headers)).body as { result: Answer };
    return {
      isError: result.isError ?? false,
      text: result.content[0]?.text ?? "",
      data: result.structuredContent,
    };
  };
}

/** The only entry of the inbox, as the owner sees it. */
async function theEntry(): Promise<Entry> {
  const { body } = await team.users.owner.get(`${team.path}/alerts/inbox?status=all`);
  const { entries } = body as { entries: Entry[] };
  expect(entries).toHaveLength(1);
  return entries[0] as Entry;
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe("list_alerts", () => {
  test("Returns what the inbox has, with whole addresses, and says it in words", async () => {
    const call = await connect("viewer", { permissions: ["read_summaries"] });
    const { id } = await theEntry();
    const { data, text } = await call("list_alerts");
    expect(data).toMatchObject({
      counts: { open: 1, snoozed: 0, mine: 0 },
      next_cursor: null,
      entries: [{ id, status: "open", rule: "budget_threshold" }],
    });
    const { entries } = data as { entries: Entry[] };
    for (const { url } of entries[0]?.links ?? []) expect(url).toMatch(`${baseUrl()}/${team.slug}/`);
    expect(text).toContain(`1 open (0 assigned to the user), 0 snoozed.`);
    expect(text).toContain(`80% of the budget Everything is spent (${id})`);
    expect((await call("list_alerts", { status: "resolved" })).data).toMatchObject({ entries: [] });
  });

  test.each<[string, KeyOptions]>([
    ["some projects", { conditions: { project_slugs: ["checkout"] } }],
    ["all projects but one", { conditions: { deny_project_slugs: ["checkout"] } }],
    ["some users", { conditions: { users: ["anna"] } }],
    ["test data", { environment: "test" }],
  ])("Is refused to a key of %s, because alerts are of all live spend", async (_, options) => {
    const call = await connect("owner", options);
    for (const [name, args] of [
      ["list_alerts", {}],
      ["resolve_alert", { id: (await theEntry()).id }],
    ] as const) {
      const refused = await call(name, args);
      expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("all live spend")]);
    }
    expect((await theEntry()).status).toBe("open");
  });

  test("Is refused from the moment at which the key's person leaves the workspace", async () => {
    const call = await connect("colleague", {}, "key");
    expect((await call("list_alerts")).isError).toBe(false);
    await team.users.admin.call("DELETE", `${team.path}/members/${team.users.colleague.id}`);
    const refused = await call("list_alerts");
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("belongs to no member")]);
  });
});

describe("take_alert and resolve_alert", () => {
  test("Assign and resolve in the name of the person, and say so in the audit log", async () => {
    const call = await connect("member");
    const { id } = await theEntry();
    const { id: user, email } = team.users.member;
    expect((await call("take_alert", { id })).data).toMatchObject({ id, assignee: { user_id: user } });
    expect((await call("list_alerts", { assignee: "me" })).data).toMatchObject({
      counts: { mine: 1 },
      entries: [{ id }],
    });
    expect((await call("resolve_alert", { id })).data).toMatchObject({ id, status: "resolved" });
    expect(await theEntry()).toMatchObject({
      status: "resolved",
      assignee: { user_id: user },
      resolved: { because: "by_hand", by: { user_id: user } },
    });
    await call("resolve_alert", { id, resolved: false });
    await call("take_alert", { id, assignee: "nobody" });
    expect(await theEntry()).toMatchObject({ status: "open", assignee: null, resolved: null });
    const { rows } = await harness.fixtures.sql.query(
      "select actor_id, actor_email from public.audit_log where workspace_id = $1 and action = 'alert_entry.changed'",
      [team.workspace],
    );
    expect(rows).toEqual(Array(4).fill({ actor_id: user, actor_email: email }));
  });

  test("Are refused without the permission, which API keys cannot have", async () => {
    const { id } = await theEntry();
    const reader = await connect("member", { permissions: ["read_summaries"] });
    for (const call of [reader, await connect("member", {}, "key")]) {
      const refused = await call("resolve_alert", { id });
      expect(refused.isError).toBe(true);
      expect(refused.text).toContain("lacks the permission manage_alerts");
      expect(refused.text).toContain("connect this program by signing in");
    }
    expect((await theEntry()).status).toBe("open");
    const given = harness.fixtures.key(team.workspace, { permissions: ["manage_alerts"] });
    await expect(given).rejects.toThrow(/api_keys_manage_alerts_if_connected/);
  });

  test("Are refused where the person is a viewer by now, or the entry is another workspace's", async () => {
    const { id } = await theEntry();
    const viewer = await connect("viewer");
    expect((await viewer("resolve_alert", { id })).text).toContain("needs the role member");
    const other = await makeTeam(harness);
    const { secret } = await harness.fixtures.key(other.workspace, {
      ...{ permissions: ["read_summaries", "manage_alerts"], kind: "connection" },
      ...{ created_by: other.users.owner.id },
    } as KeyOptions);
    const { body, headers } = toolCall("2026", "resolve_alert", { id });
    const { result } = (await apiClient(baseUrl(), secret).call("POST", "/api/mcp", body, headers)).body as {
      result: Answer;
    };
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("not_found") }],
    });
    expect((await theEntry()).status).toBe("open");
  });
});

describe("snooze_alert", () => {
  test("Snoozes the subject of an entry for admins, and for nobody else", async () => {
    const { id } = await theEntry();
    const until = inHours(24);
    const refused = await (await connect("member"))("snooze_alert", { id, until });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("needs the role admin")]);
    const call = await connect("admin");
    expect((await call("snooze_alert", { id, until: inHours(-1) })).text).toContain(
      "until: must be in the future",
    );
    expect((await theEntry()).snooze).toBeNull();
    expect((await call("snooze_alert", { id, until })).data).toMatchObject({ id, status: "snoozed" });
    const { snooze } = await theEntry();
    expect(Date.parse(snooze?.until ?? "")).toBe(Date.parse(until));
    expect((await call("list_alerts")).data).toMatchObject({ counts: { open: 0, snoozed: 1 }, entries: [] });
  });
});
