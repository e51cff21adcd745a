import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { withBulkActions } from "@/tests/helpers/bulk-actions";
import { firstDay } from "@/tests/helpers/closable-months";
import { clientIn, expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

// What a preview of many changes says, who may make them, and what holds meanwhile.

const harness = withSharedHarness();
const {
  team,
  key,
  rows,
  as,
  undo,
  correct,
  recordWith,
  recordByHand,
  sums,
  record,
  actions,
  act,
  voidAll,
  change,
  takeBack,
  newProject,
  differences,
  replacementsOf,
} = withBulkActions(harness);

const usage = {
  ...{ type: "usage", provider: "openai", model: "gpt-4o" },
  ...{ unit_type: "output_tokens", quantity: 1000 },
};

describe("A preview", () => {
  test("says exactly what sums, budgets and alerts do then, and does nothing", async () => {
    const [from, to] = [await newProject(), await newProject()];
    const ids = await record(
      [expense(30), { ...expense(40), occurred_at: new Date(Date.now() - 86_400_000).toISOString() }],
      from,
    );
    await record([expense(5)], from);
    await record([expense(1)], to);
    const budget = async (slug: string, amount: number) =>
      (
        await as("owner").call("POST", `${team.path}/budgets`, {
          ...{ name: slug, scope_type: "project", scope_value: slug, amount },
          ...{ period: "once", starts_on: firstDay(1), ends_on: firstDay(-1) },
          alert_at: { percent: [50] },
        })
      ).body.id;
    const [source, target] = [await budget(from, 100), await budget(to, 100)];
    const before = await sums();
    const request = { action: "correct", messages: ids, set: { project: to }, dry_run: true };
    const { status, body } = await as("admin").call("POST", actions(), request);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: null,
      message_count: 2,
      before_usd: 70,
      after_usd: 70,
      undo_until: null,
    });
    expect([...(body.messages as string[])].sort()).toEqual([...ids].sort());
    const [today, yesterday] = [0, 1].map((days) =>
      new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10),
    );
    const effects = body.effects as Record<string, { slug: string; id: string }[]>;
    expect(effects.projects?.find(({ slug }) => slug === from)).toMatchObject({
      days: [
        { day: yesterday, before_usd: 40, after_usd: 0 },
        { day: today, before_usd: 35, after_usd: 5 },
      ],
    });
    expect(effects.projects?.find(({ slug }) => slug === to)).toMatchObject({
      days: [
        { day: yesterday, before_usd: 0, after_usd: 40 },
        { day: today, before_usd: 1, after_usd: 31 },
      ],
    });
    expect(effects.budgets?.find(({ id }) => id === source)).toMatchObject({
      before_usd: 75,
      after_usd: 5,
      limit_usd: 100,
    });
    expect(effects.budgets?.find(({ id }) => id === target)).toMatchObject({ before_usd: 1, after_usd: 71 });
    expect(effects.alerts).toEqual([{ budget: to, percent: "50", threshold_usd: 50 }]);
    expect(await sums()).toEqual(before);
    const raised = () =>
      rows("select from public.alerts where workspace_id = $1 and subject_id = $2", [team.workspace, target]);
    expect(await raised()).toHaveLength(0);
    expect((await takeBack("admin", body.id)).status).toBe(400);

    const done = await act("admin", { ...request, dry_run: false });
    expect(done.status).toBe(201);
    expect(await raised()).toHaveLength(1);
    const spent = (await as("viewer").get(`${team.path}/budgets`)).body.budgets as {
      id: string;
      spent: number;
    }[];
    expect(spent.find(({ id }) => id === target)?.spent).toBe(71);
  });

  test("by filters finds every message that matches, without voids, however many pages they are", async () => {
    const project = await newProject();
    const messages = Array.from({ length: 30 }, (_, index) => ({
      project,
      source: "api",
      message: expense(index + 1),
    }));
    const { body } = await key.call("POST", "/api/v1/messages/batch", { messages });
    const ids = (body.results as { id: string }[]).map(({ id }) => id);
    await undo("owner", ids[0] as string);
    const filters = { project, min_amount: "1", max_amount: "20" };
    const preview = await as("owner").call("POST", actions(), { action: "void", filters, dry_run: true });
    expect(preview.body).toMatchObject({ message_count: 19, unchanged_count: 1 });
    expect(new Set(preview.body.messages as string[])).toEqual(new Set(ids.slice(1, 20)));
    const done = await act("owner", { action: "void", filters });
    expect(done.body).toMatchObject({ message_count: 19, before_usd: 209, after_usd: 0 });
    expect((await act("owner", { action: "void", filters })).body.issues).toMatchObject([
      { path: "filters" },
    ]);
    expect((await act("owner", { action: "void", filters: { q: " ", nothing: 1 } })).status).toBe(400);
  });

  test("is of the days of the workspace, as are the filters", async () => {
    const project = await newProject();
    const { sql } = harness.fixtures;
    await sql.query("delete from public.time_zone_changes where workspace_id = $1", [team.workspace]);
    await as("admin").call("PATCH", team.path, { time_zone: "Asia/Tokyo" });
    const inZone = async () => (await as("viewer").get(`${team.path}/org`)).body.workspace as object;
    await expect.poll(inZone, { timeout: 10_000 }).toMatchObject({ time_zone: "Asia/Tokyo" });
    // One o'clock at night of the 12th in Tokyo, and that of the 13th.
    await record(
      ["2026-03-11T16:00:00Z", "2026-03-12T16:00:00Z"].map((at) => ({ ...expense(3), occurred_at: at })),
      project,
    );
    const filters = { project, period: "range", from: "2026-03-12", to: "2026-03-12" };
    const { body } = await act("owner", { action: "void", filters, dry_run: true });
    expect(body).toMatchObject({ message_count: 1 });
    expect(body.effects).toMatchObject({
      projects: [{ slug: project, days: [{ day: "2026-03-12", before_usd: 3, after_usd: 0 }] }],
    });
    await as("admin").call("PATCH", team.path, { time_zone: "UTC" });
    await expect.poll(inZone, { timeout: 10_000 }).toMatchObject({ time_zone: "UTC" });
  });

  test("refuses more than 1,000 that match, and changes 1,000", async () => {
    const project = await newProject();
    const post = (count: number) =>
      key.call("POST", "/api/v1/messages/batch", {
        messages: Array.from({ length: count }, () => ({ project, source: "api", message: expense(1) })),
      });
    await post(1000);
    await post(1);
    const filters = { project };
    const refused = await act("owner", { action: "void", filters });
    expect(refused.body).toMatchObject({ error: "validation_failed", issues: [{ path: "filters" }] });
    const { body } = await as("viewer").get(`${team.path}/activity?project=${project}&limit=1`);
    await undo("owner", (body.activity as { id: string }[])[0]?.id as string);
    expect((await act("owner", { action: "void", filters })).body).toMatchObject({
      message_count: 1000,
      after_usd: 0,
    });
    expect(await differences()).toEqual([]);
  });
});

describe("At the same time", () => {
  test("a request that is sent many times with one key happens once, and is answered alike", async () => {
    const ids = await record([expense(1), expense(2)]);
    const body = { idempotency_key: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 6 }, () => voidAll("owner", ids, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(5);
    expect((await voidAll("owner", ids, { ...body, reason: "Another." })).body.error).toBe(
      "idempotency_conflict",
    );
    // Its answer does not depend on the messages, which other requests may change.
    await takeBack("owner", answers[0]?.body.id);
    expect((await voidAll("owner", ids, body)).body).toMatchObject({
      id: answers[0]?.body.id,
      undo_until: null,
    });
  });

  test("actions on the same messages and messages that are recorded leave every sum exact", async () => {
    const ids = await record(Array.from({ length: 12 }, (_, index) => expense(index + 1)));
    const slug = await newProject();
    const answers = await Promise.all([
      voidAll("owner", ids.slice(0, 8)),
      change("admin", ids.slice(4), { project: slug }),
      change("owner", [...ids].reverse().slice(0, 9), { add_tags: { a: "b" } }),
      undo("owner", ids[5] as string),
      ...Array.from({ length: 12 }, () => recordWith(expense(1))),
      ...Array.from({ length: 4 }, () => recordWith({ ...usage, session: "s" }, slug)),
    ]);
    const done = answers.slice(0, 4) as { status: number }[];
    expect(done.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(done.some(({ status }) => status === 201)).toBe(true);
    expect(await differences()).toEqual([]);
  });

  test("an undo happens once, and not after one of the messages was changed", async () => {
    const ids = await record([expense(1), expense(2)]);
    const before = await sums();
    const first = await change("owner", ids, { add_tags: { a: "b" } });
    const undone = await Promise.all(Array.from({ length: 4 }, () => takeBack("owner", first.body.id)));
    expect(undone.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect(await sums()).toEqual(before);
    const again = await record([expense(1), expense(2)]);
    const second = await change("owner", again, { add_tags: { a: "b" } });
    await undo("owner", (await replacementsOf(again))[0] as string);
    expect((await takeBack("owner", second.body.id)).body.error).toBe("conflict");
    expect(await differences()).toEqual([]);
  });

  test("an undo and a correction of one of the messages do not both happen", async () => {
    const ids = await record([expense(1), expense(2)]);
    const { body } = await change("owner", ids, { add_tags: { a: "b" } });
    const [replacement] = await replacementsOf(ids);
    const answers = await Promise.all([
      takeBack("owner", body.id),
      correct("owner", replacement as string, expense(9)),
    ]);
    expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
    expect(await differences()).toEqual([]);
  });
});

describe("Who may change many messages", () => {
  test("Members those that they recorded by hand, and no other of the list; viewers and strangers none", async () => {
    const own = [await recordByHand("member"), await recordByHand("member")];
    const other = await recordByHand("colleague");
    expect((await voidAll("member", [...own, other])).body).toMatchObject({
      error: "permission_denied",
      messages: [other],
    });
    expect((await voidAll("viewer", own)).body.error).toBe("permission_denied");
    expect((await voidAll("viewer", own, { dry_run: true })).body.error).toBe("permission_denied");
    expect((await voidAll("stranger", own)).status).toBe(404);
    const elsewhere = await makeTeam(harness);
    const path = `${elsewhere.path}/messages/bulk-actions`;
    const foreign = await elsewhere.users.owner.call("POST", path, {
      action: "void",
      messages: own,
      reason: "x",
    });
    expect(foreign.body).toMatchObject({
      error: "validation_failed",
      issues: [{ path: "messages.0" }, { path: "messages.1" }],
    });
    const { status } = await key.call("POST", actions(), { action: "void", messages: own, reason: "x" });
    expect(status).toBe(401);
    const { body } = await voidAll("member", own);
    expect(body.message_count).toBe(2);

    // Whose action it was, and admins, may undo it.
    for (const role of ["colleague", "stranger"] as const)
      expect((await takeBack(role, body.id)).status).toBe(404);
    expect((await takeBack("viewer", body.id)).body.error).toBe("permission_denied");
    expect((await elsewhere.users.owner.call("POST", `${path}/${body.id}/restore`)).status).toBe(404);
    expect((await takeBack("member", body.id)).status).toBe(200);
  });

  test("No one after ten minutes", async () => {
    const { body } = await voidAll("owner", await record([expense(1)]));
    await rows(
      "update private.deleted_things set deleted_at = deleted_at - interval '10 minutes' where id = $1",
      [body.id],
    );
    expect((await takeBack("owner", body.id)).status).toBe(404);
  });
});

test("A blocking budget holds for what is moved into it, and for an undo", async () => {
  const [from, to] = [await newProject(), await newProject()];
  const ids = await record([expense(30), expense(40)], from);
  const budget = { scope_type: "project", scope_value: to, amount: 60, blocks: true };
  expect((await as("owner").call("POST", `${team.path}/budgets`, budget)).status).toBe(201);
  const before = await sums();
  for (const dry_run of [true, false])
    expect((await change("owner", ids, { project: to }, { dry_run })).body).toMatchObject({
      error: "budget_exceeded",
    });
  expect(await sums()).toEqual(before);
  expect((await change("owner", ids.slice(1), { project: to })).status).toBe(201);
  const moved = await replacementsOf(ids.slice(1));
  const { body } = await voidAll("owner", moved);
  await recordWith(expense(50), to);
  const full = await sums();
  expect((await takeBack("owner", body.id)).body.error).toBe("budget_exceeded");
  expect(await sums()).toEqual(full);
  expect(await differences()).toEqual([]);
});

test("What is moved still counts against the limit of its key, in the month in which it was recorded", async () => {
  const limited = await clientIn(harness, team.workspace, { monthly_limit: "10" });
  const post = (amount: number) =>
    limited.post({ project: "checkout", source: "api", message: expense(amount) });
  const { body } = await post(8);
  const moved = await change("owner", [String(body.id)], { project: await newProject() });
  expect((await post(8)).status).toBe(402);
  await takeBack("owner", moved.body.id);
  expect((await post(8)).status).toBe(402);
  expect((await post(2)).status).toBe(201);
});
