import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { addChannel } from "@/tests/helpers/alerts";
import { waitingSessions } from "@/tests/helpers/block";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { mailsTo } from "@/tests/helpers/outbox";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser, makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();
connectService(() => harness.database);

let team: Team;
let byRules: string;
let chosen: string;

beforeEach(async () => {
  team = await makeTeam(harness);
  byRules = await addChannel(harness.fixtures, team.workspace, { name: "By rules" });
  // Its rules want nothing of budgets.
  chosen = await addChannel(harness.fixtures, team.workspace, { name: "Chosen", rules: ["key_expiry"] });
});

type Warns = { people?: string[]; channels?: string[] };
type Budget = {
  id: string;
  warns: { people: { id: string }[]; channels: { id: string }[]; falls_back: boolean };
};
const set = async (warns?: Warns) => {
  const answer = await team.users.admin.call("POST", `${team.path}/budgets`, {
    scope_type: "global",
    amount: 1,
    alert_at: { percent: [50] },
    ...(warns && { warns }),
  });
  return { ...answer, body: answer.body as Budget & Record<string, unknown> };
};
const read = async (id: string) => (await team.users.viewer.get(`${team.path}/budgets/${id}`)).body as Budget;
const remove = (path: string) => team.users.owner.call("DELETE", `${team.path}${path}`);

/** Spends more than half of the budget. @returns to whom its alert is sent, in the order of names */
async function sentTo(): Promise<string[]> {
  const key = await harness.fixtures.key(team.workspace);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", key.secret);
  expect((await client.post(costMessage({ estimated_cost: 0.6 }))).status).toBe(201);
  const { body } = await team.users.viewer.get(`${team.path}/alerts`);
  const [alert] = body.alerts as { deliveries: { channel: { id: string } }[] }[];
  return (alert?.deliveries ?? []).map(({ channel }) => channel.id).sort();
}

describe("Whom a budget warns", () => {
  test("Nobody by name: every channel whose rules want its alerts", async () => {
    const { body } = await set();
    expect(body.warns).toEqual({ people: [], channels: [], falls_back: false });
    expect(await sentTo()).toEqual([byRules]);
  });

  test("A person and a channel: these alone, the person by mail, the channel whatever its rules", async () => {
    const person = team.users.viewer;
    const { status, body } = await set({ people: [person.id], channels: [chosen] });
    expect(status).toBe(201);
    expect(body.warns).toMatchObject({
      people: [{ id: person.id }],
      channels: [{ id: chosen, name: "Chosen", is_off: false }],
      falls_back: false,
    });
    const { secret } = await harness.fixtures.key(team.workspace);
    const asKey = await apiClient(harness.services[0]?.baseUrl ?? "", secret).get("/api/v1/budgets/status");
    // A key learns how many, and not who.
    expect(asKey.body.budgets).toMatchObject([{ warns: { people: 1, channels: 1 } }]);
    expect(await sentTo()).toEqual([chosen, person.id].sort());
    const mails = await vi.waitUntil(
      async () => {
        const found = await mailsTo(person.email);
        return found.length > 0 ? found : undefined;
      },
      { timeout: 10_000 },
    );
    expect(mails).toHaveLength(1);
    expect(JSON.stringify(mails)).toMatch(/50% of the budget .* is spent/);
    for (const other of ["owner", "admin", "member"] as const)
      expect(await mailsTo(team.users[other].email)).toEqual([]);
  });

  test("Refuses people and channels of elsewhere, and names them", async () => {
    const other = await makeTeam(harness);
    const foreign = await addChannel(harness.fixtures, other.workspace, {});
    for (const [warns, path] of [
      [{ people: [team.users.owner.id, other.users.owner.id] }, "warns.people.1"],
      [{ people: [team.users.stranger.id] }, "warns.people.0"],
      [{ channels: [foreign] }, "warns.channels.0"],
      [{ channels: [randomUUID()] }, "warns.channels.0"],
      [{ channels: [team.users.owner.id] }, "warns.channels.0"],
    ] as [Warns, string][]) {
      const { status, body } = await set(warns);
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain(`"${path}"`);
    }
  });

  test("Another workspace's people and channels, written past the service, get nothing", async () => {
    const other = await makeTeam(harness);
    const foreign = await addChannel(harness.fixtures, other.workspace, {});
    const { body } = await set();
    await harness.fixtures.sql.query(
      "update public.budgets set warned_people = $2, warned_channels = $3 where id = $1",
      [body.id, [other.users.owner.id], [foreign]],
    );
    expect((await read(body.id)).warns).toEqual({ people: [], channels: [], falls_back: true });
    expect(await sentTo()).toEqual([byRules]);
  });

  test.each<[string, (person: string) => Promise<unknown>]>([
    [
      "the person leaves and the channel is removed",
      async (person) => {
        expect((await remove(`/members/${person}`)).status).toBeLessThan(300);
        expect((await remove(`/alert-channels/${chosen}`)).status).toBeLessThan(300);
      },
    ],
    [
      "the person leaves and the channel is turned off",
      async (person) => {
        expect((await remove(`/members/${person}`)).status).toBeLessThan(300);
        const off = await team.users.admin.call("PATCH", `${team.path}/alert-channels/${chosen}`, {
          enabled: false,
        });
        expect(off.status).toBe(200);
      },
    ],
  ])("Falls back to the rules, and says so, when %s", async (_, leave) => {
    const { id: person } = await addUser(harness, team.workspace, "member");
    const { body } = await set({ people: [person], channels: [chosen] });
    await leave(person);
    expect((await read(body.id)).warns).toMatchObject({ people: [], falls_back: true });
    expect(await sentTo()).toEqual([byRules]);
  });

  test("One who leaves is warned no more, those who stay are", async () => {
    const leaving = await addUser(harness, team.workspace, "member");
    const { body } = await set({ people: [leaving.id, team.users.viewer.id] });
    await remove(`/members/${leaving.id}`);
    expect((await read(body.id)).warns).toMatchObject({
      people: [{ id: team.users.viewer.id }],
      falls_back: false,
    });
    expect(await sentTo()).toEqual([team.users.viewer.id]);
    expect(await mailsTo(leaving.email)).toEqual([]);
  });

  test("Records a cost that crosses a threshold while the person is leaving, and mails nobody", async () => {
    const leaving = await addUser(harness, team.workspace, "member");
    await set({ people: [leaving.id] });
    const session = new Client({ connectionString: harness.database.adminUrl });
    await session.connect();
    await session.query("begin");
    await session.query("delete from public.workspace_members where workspace_id = $1 and user_id = $2", [
      team.workspace,
      leaving.id,
    ]);
    const sent = sentTo();
    await vi.waitUntil(async () => (await waitingSessions(session)) > 0, { timeout: 10_000, interval: 10 });
    await session.query("commit");
    await session.end();
    expect(await sent).toEqual([]);
    expect(await mailsTo(leaving.email)).toEqual([]);
  });

  test("Is edited by admins, in the audit log, and stays when it is left out", async () => {
    const { body } = await set({ channels: [chosen] });
    const path = `${team.path}/budgets/${body.id}`;
    expect((await team.users.member.call("PATCH", path, { warns: {} })).status).toBe(403);
    await team.users.admin.call("PATCH", path, { name: "Renamed" });
    expect((await read(body.id)).warns.channels).toMatchObject([{ id: chosen }]);
    const person = team.users.owner.id;
    const edited = await team.users.admin.call("PATCH", path, { warns: { people: [person] } });
    expect(edited.body.warns).toMatchObject({ people: [{ id: person }], channels: [] });
    const { rows } = await harness.fixtures.sql.query(
      "select after from public.audit_log where workspace_id = $1 and action = 'budget.changed' order by at desc limit 1",
      [team.workspace],
    );
    expect(rows[0]?.after).toMatchObject({ warned_people: [person], warned_channels: [] });
    const cleared = await team.users.admin.call("PATCH", path, { warns: {} });
    expect(cleared.body.warns).toEqual({ people: [], channels: [], falls_back: false });
  });

  test("Comes back with a budget whose deletion is undone", async () => {
    const { body } = await set({ people: [team.users.viewer.id] });
    await team.users.admin.call("DELETE", `${team.path}/budgets/${body.id}`);
    const restored = await team.users.admin.call("POST", `${team.path}/budgets/${body.id}/restore`);
    expect(restored.body.warns).toMatchObject({ people: [{ id: team.users.viewer.id }] });
  });
});
