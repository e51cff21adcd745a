import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { withBulkActions } from "@/tests/helpers/bulk-actions";
import { expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const {
  team,
  key,
  rows,
  as,
  undo,
  sums,
  record,
  act,
  voidAll,
  change,
  takeBack,
  newProject,
  differences,
  replacementsOf,
} = withBulkActions(harness);

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

/** The postings of messages, without what a correction gives anew. */
const postingsOf = async (ids: string[], more = "") =>
  rows(
    `select to_jsonb(m) - '{id,created_at,counted_at,user_id,voids,voided_by${more}}'::text[] as posting
     from public.messages as m where id = any ($1) order by 1`,
    [ids],
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
