import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Role, withCorrectingTeam } from "@/tests/helpers/corrections";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { clientIn, expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { actAs } from "@/tests/helpers/sql-user";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();
const { team, key, rows, as, undo, correct, recordWith, recordByHand, sums } = withCorrectingTeam(harness);

const lines = [
  { unit_type: "input_tokens", quantity: 200, estimated_cost: 0.3 },
  { unit_type: "output_tokens", quantity: 34 },
];
const everyType: Record<string, object> = {
  usage: {
    ...{ type: "usage", provider: "openai", model: "gpt-4o", unit_type: "output_tokens", quantity: 1000 },
    ...{ user: "bo", tags: { team: "growth", area: "x" }, feature: "chat" },
  },
  "usage without a price": { type: "usage", provider: "none", unit_type: "requests", quantity: 3 },
  "included usage": {
    ...{ type: "usage", provider: "openai", model: "gpt-4o", unit_type: "output_tokens", quantity: 9 },
    included: true,
  },
  "a usage with lines": { type: "usage", provider: "openai", model: "gpt-4o", lines },
  "a batch": { type: "batch", provider: "openai", batch_id: "b", items: lines },
  "an expense in euro": { type: "expense", vendor: "Hetzner", amount: 7.77, currency: "EUR" },
  "a yearly subscription": { type: "subscription", vendor: "Figma", amount: 100, interval: "year" },
  "an allocation": { type: "allocation", from_project: "source", amount: 0.5 },
};

describe("A void", () => {
  test.each(Object.keys(everyType))("of %s leaves every sum as if it had not been recorded", async (name) => {
    await recordWith(expense(1), "source");
    await recordWith(expense(1));
    const budget = { scope_type: "project", scope_value: "checkout", amount: 1000 };
    expect((await as("owner").call("POST", `${team.path}/budgets`, budget)).status).toBe(201);
    const before = await sums();
    const id = await recordWith(everyType[name] as object);
    expect(await sums()).not.toEqual(before);

    const { status, body } = await undo("admin", id);
    expect(status).toBe(201);
    expect(body).toMatchObject({ voids: id, reason: "Recorded twice.", correction: null });
    expect(await sums()).toEqual(before);
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    // Nothing was removed, and the two know each other.
    const [original, counter] = await Promise.all(
      [id, body.id].map(async (each) => (await as("viewer").get(`${team.path}/messages/${each}`)).body),
    );
    expect(original).toMatchObject({ voided_by: body.id, voids: null, void_reason: "Recorded twice." });
    expect(counter).toMatchObject({ voids: id, voided_by: null, notes: "Recorded twice." });
    expect(Number(counter?.amount_usd)).toBe(-Number(original?.amount_usd) + 0);
  });

  test("counts as no message where a part of a day or units are read", async () => {
    const usage = {
      ...{ type: "usage", provider: "none", unit_type: "requests", quantity: 3 },
      occurred_at: "2026-03-03T12:00:00Z",
    };
    await recordWith(usage, "parts");
    await undo("owner", await recordWith(usage, "parts"));
    const spend = await key.get(
      "/api/v1/projects/parts/spend?from=2026-03-03T06:00:00Z&to=2026-03-03T18:00:00Z",
    );
    expect(spend.body).toMatchObject({ message_count: 1, unpriced_count: 1 });
    const query = {
      ...{ group_by: ["unit"], from: "2026-03-03", to: "2026-03-03" },
      filters: [{ field: "project", values: ["parts"] }],
    };
    const { body } = await as("viewer").call("POST", `${team.path}/spend/query`, query);
    expect(body).toMatchObject({ totals: { message_count: 1 } });
  });

  test("happens once, however many ask at the same moment", async () => {
    const id = await recordWith(expense(5));
    const answers = await Promise.all(Array.from({ length: 8 }, () => undo("owner", id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const refused = answers.find(({ status }) => status === 409);
    const done = answers.find(({ status }) => status === 201);
    expect(refused?.body).toMatchObject({ error: "conflict", void_id: done?.body.id });
    const stored = await rows("select amount_usd::float as usd from public.messages where voids = $1", [id]);
    expect(stored).toEqual([{ usd: -5 }]);
  });

  test("is answered again to a retry with its idempotency key, and refused to another request", async () => {
    const id = await recordWith(expense(5));
    const body = { reason: "Recorded twice.", idempotency_key: "k" };
    const answers = await Promise.all(Array.from({ length: 4 }, () => undo("owner", id, body)));
    expect(new Set(answers.map(({ status, body: { id: given } }) => `${status} ${given}`)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(3);
    expect((await undo("owner", id, { ...body, reason: "Another." })).body.error).toBe(
      "idempotency_conflict",
    );
    expect((await undo("owner", id, { reason: body.reason })).body.error).toBe("conflict");
  });

  test("cannot be voided or corrected", async () => {
    const id = await recordWith(expense(5));
    const { body } = await undo("owner", id);
    const before = await sums();
    expect((await undo("owner", String(body.id))).body).toMatchObject({ error: "conflict", voids: id });
    expect((await correct("owner", String(body.id), expense(1))).status).toBe(409);
    expect(await sums()).toEqual(before);
  });

  test("needs a reason, and a message that is there", async () => {
    const id = await recordWith(expense(5));
    expect((await undo("owner", id, {})).body).toMatchObject({ issues: [{ path: "reason" }] });
    expect((await undo("owner", randomUUID())).status).toBe(404);
    expect((await undo("stranger", id)).status).toBe(404);
    const elsewhere = await makeTeam(harness);
    const path = `${elsewhere.path}/messages/${id}/void`;
    expect((await elsewhere.users.owner.call("POST", path, { reason: "x" })).status).toBe(404);
  });

  test("of a recurring charge does not bring the charge back", async () => {
    const id = await recordWith({ type: "subscription", vendor: "Linear", amount: 8, recurring: true });
    await undo("owner", id);
    const [{ count }] = await rows(
      "select count(*)::int as count from public.messages where workspace_id = $1 and provider = 'Linear'",
      [team.workspace],
    );
    expect(count).toBe(2);
    const { body } = await as("viewer").get(`${team.path}/subscriptions`);
    expect(body.subscriptions).toContainEqual(
      expect.objectContaining({ vendor: "Linear", stopped_at: null }),
    );
  });

  test("frees the limit of the key in the month in which the cost was recorded, and of no other", async () => {
    const limited = await clientIn(harness, team.workspace, { monthly_limit: "10" });
    const post = () => limited.post({ project: "checkout", source: "api", message: expense(8) });
    const first = await post();
    expect((await post()).status).toBe(402);
    await rows(`update public.messages set created_at = created_at - interval '1 month' where id = $1`, [
      first.body.id,
    ]);
    await rows(
      `insert into public.key_spend select workspace_id, api_key_id, (month - interval '1 month')::date, amount_usd, message_count
       from public.key_spend where api_key_id = $1`,
      [limited.id],
    );
    await rows("delete from public.key_spend where api_key_id = $1 and month = date_trunc('month', now())", [
      limited.id,
    ]);
    const second = await post();
    expect(second.status).toBe(201);
    await undo("owner", String(first.body.id));
    expect((await post()).status).toBe(402);
    await undo("owner", String(second.body.id));
    expect((await post()).status).toBe(201);
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
  });

  test("never raises an alert a second time", async () => {
    const slug = `p-${randomUUID()}`;
    await recordWith(expense(1), slug);
    const budget = { scope_type: "project", scope_value: slug, amount: 100, alert_at: { percent: [50] } };
    const { body } = await as("owner").call("POST", `${team.path}/budgets`, budget);
    const raised = () =>
      rows("select level from public.alerts where workspace_id = $1 and subject_id = $2", [
        team.workspace,
        body.id,
      ]);
    const id = await recordWith(expense(60), slug);
    expect(await raised()).toEqual([{ level: "50" }]);
    await correct("owner", id, expense(61), { project: slug });
    await recordWith(expense(70), slug);
    expect(await raised()).toEqual([{ level: "50" }]);
  });

  test("is in both exports, with the links, and marked as a correction of a month that is over", async () => {
    const slug = `p-${randomUUID()}`;
    const at = new Date(Date.now() - 40 * 86_400_000).toISOString();
    const id = await recordWith({ ...expense(6), occurred_at: at }, slug);
    const { body } = await correct("owner", id, expense(7), { project: slug });
    const get = async (format: string) => {
      const answer = await fetch(
        `${harness.services[0]?.baseUrl}${team.path}/export?format=${format}&period=all&project=${slug}`,
        { headers: { authorization: `Bearer ${as("viewer").token}` } },
      );
      const [head, ...lines] = (await answer.text()).trimEnd().split("\r\n");
      const names = (head ?? "").split(",");
      return lines.map((line) =>
        Object.fromEntries(line.split(",").map((cell, index) => [names[index], cell])),
      );
    };
    const correction = (body.correction as { id: string }).id;
    const csv = new Map((await get("csv")).map((row) => [row.id, row]));
    expect(csv.get(id)).toMatchObject({
      amount_usd: "6",
      voided_by: body.id,
      corrected_by: correction,
      voids: "",
    });
    expect(csv.get(String(body.id))).toMatchObject({ amount_usd: "-6", voids: id, label: "Void: v" });
    expect(csv.get(correction)).toMatchObject({ amount_usd: "7", corrects: id, voided_by: "" });
    const focus = new Map((await get("focus")).map((row) => [row.x_MessageId, row]));
    expect(focus.get(id)).toMatchObject({ ChargeClass: "", x_VoidedBy: body.id });
    expect(focus.get(String(body.id))).toMatchObject({ ChargeClass: "Correction", BilledCost: "-6.0" });
    expect(focus.get(correction)).toMatchObject({ ChargeClass: "Correction", BilledCost: "7.0" });
  });

  test("is in the audit log, with who and why", async () => {
    const id = await recordWith(expense(5));
    const { body } = await correct("admin", id, expense(4));
    const audit = (await as("owner").get(`${team.path}/audit`)).body.entries as Record<string, unknown>[];
    expect(audit.find(({ subject }) => (subject as { id: string }).id === id)).toMatchObject({
      action: "message.corrected",
      actor: { email: as("admin").email },
      after: { void_id: body.id, corrected_by: (body.correction as { id: string }).id },
    });
  });
});

describe("Who may void", () => {
  test("A member voids what they recorded by hand, and nothing else", async () => {
    const own = await recordByHand("member");
    const others = [await recordByHand("colleague"), await recordWith(expense(1))];
    for (const id of others) {
      expect((await undo("member", id)).body.error).toBe("permission_denied");
      expect((await correct("member", id, expense(1))).body.error).toBe("permission_denied");
    }
    expect((await undo("viewer", own)).body.error).toBe("permission_denied");
    expect((await undo("member", own)).status).toBe(201);
  });

  test("No key may, of whatever permissions", async () => {
    const id = await recordWith(expense(1));
    const { status } = await key.call("POST", `${team.path}/messages/${id}/void`, { reason: "x" });
    expect(status).toBe(401);
  });

  test("The database refuses the same to whoever passes the service by", async () => {
    const id = await recordByHand("colleague");
    const insert = async (role: Role, message: string, columns = "", values = "") => {
      const client = await harness.fixtures.sql.connect();
      try {
        await client.query("begin");
        await actAs(client, { sub: as(role).id });
        await client.query(
          `insert into public.message_voids (workspace_id, message_id, reason${columns}) values ($1, $2, 'x'${values})`,
          [team.workspace, message],
        );
        await client.query("commit");
      } finally {
        await client.query("rollback");
        client.release();
      }
    };
    for (const role of ["member", "viewer", "stranger"] as const) {
      await expect(insert(role, id)).rejects.toThrow(/row-level security|no message/);
    }
    await expect(insert("owner", id, ", user_id", `, '${as("admin").id}'`)).rejects.toThrow(
      /permission denied/,
    );
    await expect(insert("owner", id, ", corrected_by", ", gen_random_uuid()")).rejects.toThrow(
      /permission denied/,
    );
    await expect(insert("owner", randomUUID())).rejects.toThrow(/no message/);
    expect((await as("viewer").get(`${team.path}/messages/${id}`)).body.voided_by).toBeNull();
    // What it allows is a whole void.
    await insert("colleague", id);
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    await expect(insert("owner", id)).rejects.toThrow(/message_voids_pkey/);
  });
});
