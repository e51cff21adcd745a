import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Role, withCorrectingTeam } from "@/tests/helpers/corrections";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { clientIn, expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();
const { team, key, rows, as, undo, correct, recordWith, recordByHand, sums } = withCorrectingTeam(harness);

const lines = [
  { unit_type: "input_tokens", quantity: 200, estimated_cost: 0.3 },
  { unit_type: "output_tokens", quantity: 34 },
];
const usage = {
  type: "usage",
  provider: "openai",
  model: "gpt-4o",
  unit_type: "output_tokens",
  quantity: 1000,
};
const everyType = [
  { ...usage, user: "bo", tags: { team: "growth", area: "x" }, feature: "chat", session: "run-1" },
  { ...usage, provider: "none", unit_type: "requests" },
  { ...usage, included: true },
  { type: "usage", provider: "openai", model: "gpt-4o", lines },
  {
    type: "batch",
    provider: "openai",
    batch_id: "b",
    items: lines.map((line) => ({ ...line, model: "gpt-4o" })),
  },
  { type: "expense", vendor: "Hetzner", amount: 7.77, currency: "EUR" },
  { type: "subscription", vendor: "Figma", amount: 100, interval: "year" },
];
const allocation = { type: "allocation", from_project: "source", amount: 0.5 };

/** Records messages, one after another. @returns their ids */
async function record(messages: object[], project = "checkout"): Promise<string[]> {
  const ids = [];
  for (const message of messages) ids.push(await recordWith(message, project));
  return ids;
}

const actions = () => `${team.path}/messages/bulk-actions`;
const act = (role: Role, body: object) => as(role).call("POST", actions(), { reason: "Wrong.", ...body });
const voidAll = (role: Role, messages: string[], more: object = {}) =>
  act(role, { action: "void", messages, ...more });
const change = (role: Role, messages: string[], set: object, more: object = {}) =>
  act(role, { action: "correct", messages, set, ...more });
const takeBack = (role: Role, id: unknown) => as(role).call("POST", `${actions()}/${id}/restore`);

const newProject = async () => {
  const slug = `p-${randomUUID()}`;
  await harness.fixtures.project(team.workspace, slug);
  return slug;
};
const differences = () => ledgerDifferences(harness.fixtures, team.workspace);

/** The postings of messages, without what a correction gives anew. */
const postingsOf = async (ids: string[], more = "") =>
  rows(
    `select to_jsonb(m) - '{id,created_at,counted_at,user_id,voids,voided_by${more}}'::text[] as posting
     from public.messages as m where id = any ($1) order by 1`,
    [ids],
  );
/** The messages that replaced others. */
const replacementsOf = async (ids: string[]) =>
  (await rows("select corrected_by from public.message_voids where message_id = any ($1)", [ids])).map(
    ({ corrected_by: id }) => id as string,
  );

describe("An action on many messages", () => {
  test("voids every kind of message, so that every sum is as if they had not been recorded, and is undone exactly", async () => {
    await record([expense(1)], "source");
    await as("owner").call("POST", `${team.path}/budgets`, {
      ...{ scope_type: "project", scope_value: "checkout", amount: 1000 },
    });
    const before = await sums();
    const ids = await record([...everyType, allocation]);
    const recorded = await sums();
    const postings = await postingsOf(ids);
    const { status, body } = await voidAll("admin", ids);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      action: "void",
      message_count: 8,
      unchanged_count: 0,
      after_usd: 0,
      effects: null,
    });
    expect(await sums()).toEqual(before);
    expect(await differences()).toEqual([]);

    const undone = await takeBack("admin", body.id);
    expect(undone.body).toMatchObject({ id: body.id, undo_until: null, undone_at: expect.any(String) });
    expect(await sums()).toEqual(recorded);
    expect(await differences()).toEqual([]);
    expect(await postingsOf(await replacementsOf(ids))).toEqual(postings);
    expect((await takeBack("admin", body.id)).status).toBe(404);
  });

  test("moves and tags every kind of message, keeps all else as it was, and is undone exactly", async () => {
    const before = await sums();
    const ids = await record(everyType);
    const recorded = await sums();
    const slug = await newProject();
    const set = {
      project: slug,
      add_tags: { team: "search", b: "2" },
      remove_tags: ["area"],
      feature: "ask",
    };
    const { status, body } = await change("owner", ids, set);
    expect(status).toBe(201);
    expect(String(body.before_usd)).toBe(String(body.after_usd));
    const moved = await replacementsOf(ids);
    expect(await postingsOf(moved, ",project_id,tags,feature")).toEqual(
      await postingsOf(ids, ",project_id,tags,feature"),
    );
    const names = await rows(
      `select distinct p.slug, m.tags, m.feature from public.messages as m join public.projects as p on p.id = m.project_id
       where m.id = any ($1)`,
      [moved],
    );
    expect(names).toEqual([{ slug, tags: ["b:2", "team:search"], feature: "ask" }]);
    expect(await differences()).toEqual([]);
    const detail = await as("viewer").get(`${team.path}/messages/${moved[0]}`);
    expect(detail.body.key).toMatchObject({ id: key.id });

    expect((await takeBack("owner", body.id)).status).toBe(200);
    expect(await sums()).toEqual(recorded);
    const restored = await replacementsOf(moved);
    expect(await postingsOf(restored)).toEqual(await postingsOf(ids));
    await voidAll("owner", restored);
    expect(await sums()).toEqual(before);
    expect(await differences()).toEqual([]);
  });

  test("multiplies amounts exactly, also of lines and of other currencies", async () => {
    const ids = await record([
      everyType[4] as object,
      everyType[5] as object,
      expense(500),
      { ...usage, estimated_cost: 0.000000000001 },
    ]);
    // One of the lines of the batch is priced.
    const { status, body } = await change("owner", ids, { multiply_by: 0.01 });
    expect(status).toBe(201);
    const [old, fresh] = await Promise.all(
      [ids, await replacementsOf(ids)].map((of) =>
        rows(
          `select type, quantity, trim_scale(amount_usd * case when voided_by is null then 100 else 1 end)::text as usd,
             trim_scale(lines_usd * case when voided_by is null then 100 else 1 end)::text as lines,
             trim_scale(original_amount * case when voided_by is null then 100 else 1 end)::text as original, currency
           from public.messages where id = any ($1) order by type, part, usd`,
          [of],
        ),
      ),
    );
    expect(fresh).toEqual(old);
    expect(
      await rows(
        "select distinct cost_status, price is null as no_price from public.messages where id = any ($1) order by 1",
        [await replacementsOf(ids)],
      ),
    ).toEqual([
      { cost_status: "client", no_price: true },
      { cost_status: "converted", no_price: false },
    ]);
    expect(await differences()).toEqual([]);
    await takeBack("owner", body.id);
    expect(await differences()).toEqual([]);
  });

  test("refuses to move or multiply an allocation, and to multiply what has no amount, and does nothing", async () => {
    const ids = await record([
      { ...expense(1), tags: { own: "x" } },
      allocation,
      everyType[1] as object,
      everyType[2] as object,
    ]);
    const before = await sums();
    const project = await newProject();
    expect((await change("owner", ids, { project })).body.issues).toMatchObject([{ path: "messages.1" }]);
    expect((await change("owner", ids, { multiply_by: 2 })).body.issues).toMatchObject([
      { path: "messages.1" },
      { path: "messages.2" },
      { path: "messages.3" },
    ]);
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`n${index}`, "x"]));
    expect((await change("owner", ids, { add_tags: ten })).body.issues).toMatchObject([
      { path: "messages.0" },
    ]);
    expect((await change("owner", ids, { project: "nowhere-at-all" })).body.issues).toMatchObject([
      { path: "set.project" },
    ]);
    expect(await sums()).toEqual(before);
    expect((await change("owner", ids, { add_tags: { a: "b" } })).status).toBe(201);
    expect(await differences()).toEqual([]);
  });

  test("leaves messages alone that are already as they should be", async () => {
    const [tagged, plain] = await record([{ ...expense(2), tags: { a: "b" } }, expense(3)]);
    const { body } = await change("owner", [tagged as string, plain as string], { add_tags: { a: "b" } });
    expect(body).toMatchObject({ message_count: 1, unchanged_count: 1, before_usd: 3, after_usd: 3 });
    expect((await change("owner", [tagged as string], { add_tags: { a: "b" } })).body.error).toBe("conflict");
    expect((await as("viewer").get(`${team.path}/messages/${tagged}`)).body.voided_by).toBeNull();
  });

  test("changes all of them or none", async () => {
    const ids = await record([expense(1), expense(2), expense(3)]);
    await undo("owner", ids[1] as string);
    const before = await sums();
    const voided = await rows("select void_id from public.message_voids where message_id = $1", [ids[1]]);
    for (const list of [ids, [ids[0] as string, voided[0].void_id as string]]) {
      expect((await voidAll("owner", list)).body).toMatchObject({ error: "conflict", messages: [list[1]] });
    }
    expect((await voidAll("owner", [ids[0] as string, randomUUID()])).body.issues).toMatchObject([
      { path: "messages.1" },
    ]);
    expect(await sums()).toEqual(before);
    // An id that comes twice counts once.
    const twice = await voidAll("owner", [
      ids[0] as string,
      (ids[0] as string).toUpperCase(),
      ids[2] as string,
    ]);
    expect(twice.body).toMatchObject({ message_count: 2, before_usd: 4 });
  });

  test("takes at most 1,000 messages, and needs messages or filters, a change and a reason", async () => {
    const ids = Array.from({ length: 1001 }, () => randomUUID());
    expect((await voidAll("owner", ids)).body.issues).toMatchObject([{ path: "messages" }]);
    expect((await voidAll("owner", [])).body.issues).toMatchObject([{ path: "messages" }]);
    expect((await act("owner", { action: "void" })).body.issues).toMatchObject([{ path: "messages" }]);
    expect((await voidAll("owner", ids.slice(0, 1), { filters: {} })).body.issues).toMatchObject([
      { path: "messages" },
    ]);
    expect((await change("owner", ids.slice(0, 1), {})).body.issues).toMatchObject([{ path: "set" }]);
    expect((await voidAll("owner", ids.slice(0, 1), { set: { feature: null } })).body.issues).toMatchObject([
      { path: "set" },
    ]);
    expect((await voidAll("owner", ids.slice(0, 1), { reason: undefined })).body.issues).toMatchObject([
      { path: "reason" },
    ]);
  });

  test("is one entry of the audit log, with who, why and what, and one for its undo", async () => {
    const ids = await record([expense(1), expense(2)]);
    const set = { add_tags: { team: "search" }, remove_tags: ["x"] };
    const { body } = await change("admin", ids, set, { reason: "The team was missing." });
    await takeBack("owner", body.id);
    const audit = (await as("owner").get(`${team.path}/audit?limit=3`)).body.entries as Record<
      string,
      unknown
    >[];
    expect(audit.slice(0, 2)).toMatchObject([
      { action: "bulk_action.undone", subject: { id: body.id }, actor: { email: as("owner").email } },
      {
        action: "bulk_action.corrected",
        subject: { kind: "bulk_action", id: body.id },
        actor: { email: as("admin").email },
        after: {
          ...{ messages: 2, before_usd: 3, after_usd: 3, reason: "The team was missing." },
          ...{ add_tags: ["team:search"], remove_tags: ["x"] },
        },
      },
    ]);
    expect(audit[2]?.action).not.toMatch(/message/);
  });
});

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
          ...{ name: slug, scope_type: "project", scope_value: slug, amount, period: "year" },
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
