import { describe, expect, test } from "vitest";
import type { LedgerMonth } from "@/lib/contract/ledger/closed-months";
import { dayOf } from "@/lib/contract/values/instant";
import { closed, earlier, firstDay } from "@/tests/helpers/closable-months";
import { type ClosingTeam, makeClosingTeam, sha256 } from "@/tests/helpers/closing-team";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { exportSpans } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

const openDay = firstDay(1);
const inClosed = (day: string) => `${closed}-${day}T10:00:00.000+00:00`;
const withTeam = () => makeClosingTeam(harness);
const isSound = async (team: ClosingTeam) =>
  expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);

describe("A closed month", () => {
  test("keeps its figures, its filed export and its rows, whatever is recorded of it later", async () => {
    const team = await withTeam();
    const wrong = await team.add({ ...expense(7), occurred_at: inClosed("12") });
    await team.add({ ...expense(5), occurred_at: inClosed("30") });
    const unpriced = await team.add({
      ...{ type: "usage", provider: "unheard-of", model: "m", unit_type: "requests", quantity: 2 },
      occurred_at: inClosed("13"),
    });
    const { status, body } = await team.close();
    expect(status).toBe(201);
    expect(body.closed_until).toBe(openDay);
    const filed = await team.monthOf();
    expect(filed).toMatchObject({ amount_usd: 12, message_count: 3, unpriced_count: 1, can_close: false });
    const id = filed.closing?.id as string;
    const bytes = await team.filed(id);
    expect(sha256(bytes)).toBe(filed.closing?.sha256);
    expect(bytes.length).toBe(filed.closing?.bytes);
    const rows = [await team.exported(closed), await team.exported(closed, "focus")];

    const late = await team.add({ ...expense(3), occurred_at: inClosed("20") });
    expect(late).toMatchObject({ adjusts: inClosed("20"), amount_usd: 3 });
    expect((await team.detail(late.id)).entries).toMatchObject([
      { occurred_at: late.created_at, adjusts: inClosed("20") },
    ]);
    const voided = await team.voids(wrong.id);
    expect(voided.status).toBe(201);
    expect((await team.detail(String(voided.body.id))).entries).toMatchObject([
      { adjusts: inClosed("12"), occurred_at: voided.body.created_at, amount_usd: -7 },
    ]);
    const corrected = await team.users.admin.call("POST", `${team.path}/messages/${unpriced.id}/correct`, {
      reason: "It has a cost.",
      project: "checkout",
      message: expense(0.25),
    });
    expect(corrected.status, JSON.stringify(corrected.body)).toBe(201);
    const correction = (corrected.body.correction as { id: string }).id;
    expect((await team.detail(correction)).entries).toMatchObject([
      { adjusts: inClosed("13"), amount_usd: 0.25 },
    ]);

    const after = await team.monthOf();
    expect(after).toEqual({ ...filed, later_adjustments_usd: -3.75, later_adjustment_count: 4 });
    expect(await team.filed(id)).toEqual(bytes);
    expect([await team.exported(closed), await team.exported(closed, "focus")]).toEqual(rows);
    const present = (await team.list()).months[0] as LedgerMonth;
    expect(present).toMatchObject({ amount_usd: -3.75, adjustments_usd: -3.75 });
    const listed = await team.users.viewer.get(`${team.path}/activity?period=all&adjusts=${closed}`);
    expect((listed.body.activity as object[]).length).toBe(4);
    const none = await team.users.viewer.get(`${team.path}/activity?period=all&adjusts=${earlier}`);
    expect(none.body.activity).toEqual([]);
    await isSound(team);
  });

  test("is closed with the open months before it, and reopened from the last one on", async () => {
    const team = await withTeam();
    await team.add({ ...expense(2), occurred_at: `${earlier}-05T00:00:00Z` });
    await team.add({ ...expense(4), occurred_at: inClosed("05") });
    expect((await team.close()).status).toBe(201);
    expect(await team.monthOf(earlier)).toMatchObject({ amount_usd: 2, closing: { month: earlier } });
    expect((await team.close(earlier)).body.error).toBe("conflict");
    const first = (await team.monthOf(closed)).closing;
    expect((await team.reopen(earlier)).body.error).toBe("conflict");
    expect((await team.reopen(closed)).status).toBe(201);
    expect((await team.list()).closed_until).toBe(`${closed}-01`);
    expect((await team.add({ ...expense(1), occurred_at: inClosed("06") })).adjusts).toBeUndefined();
    expect((await team.add({ ...expense(1), occurred_at: `${earlier}-06T00:00:00Z` })).adjusts).toBeDefined();
    expect((await team.close()).status).toBe(201);
    const { reopened, months } = await team.list();
    expect(reopened).toMatchObject([{ id: first?.id, reopen_reason: "A late invoice.", amount_usd: 4 }]);
    expect(months.find(({ month }) => month === closed)).toMatchObject({ amount_usd: 5 });
    // What was filed first stays there.
    expect((await team.filed(first?.id as string)).toString()).toContain(",4,0,1,1,0,0");
    expect((await team.reopen(closed)).status).toBe(201);
    expect((await team.reopen(earlier)).status).toBe(201);
    expect((await team.list()).closed_until).toBeNull();
    const { body } = await team.users.admin.get(`${team.path}/audit?kind=closed_month`);
    expect((body.entries as { action: string }[]).map(({ action }) => action).sort()).toEqual([
      ...Array(3).fill("closed_month.changed"),
      ...Array(3).fill("closed_month.created"),
    ]);
    await isSound(team);
  });

  test("answers retries of what was recorded before as before", async () => {
    const team = await withTeam();
    const message = { ...expense(5), occurred_at: inClosed("09") };
    const post = () =>
      team.key.post({ project: "checkout", source: "api", message, idempotency_key: "once" });
    const first = await post();
    await team.close();
    const again = await post();
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    const late = { ...expense(6), occurred_at: inClosed("10") };
    const send = () =>
      team.key.post({ project: "checkout", source: "api", message: late, idempotency_key: "late" });
    const adjusted = await send();
    expect(adjusted.body.adjusts).toBe(inClosed("10"));
    const { closing } = await team.monthOf();
    await team.users.admin.call("POST", `${team.monthsPath}/${closing?.id}/reopen`, { reason: "Again." });
    expect((await send()).body).toEqual(adjusted.body);
    expect((await team.monthOf()).amount_usd).toBe(5);
  });

  test("takes periods of subscriptions and allocations of it as adjustments, and those move no more than it has", async () => {
    const team = await withTeam();
    await team.add({ ...expense(10), occurred_at: inClosed("02") }, "source");
    await team.close();
    const subscription = await team.add({
      ...{ type: "subscription", vendor: "Seats", amount: 9, interval: "month", recurring: true },
      starts_on: `${closed}-03`,
    });
    expect(subscription.adjusts).toBe(`${closed}-03T00:00:00.000+00:00`);
    const allocate = (amount: number) =>
      team.key.post({
        project: "checkout",
        source: "api",
        message: { type: "allocation", from_project: "source", amount, occurred_at: inClosed("28") },
      });
    expect((await allocate(8)).body).toMatchObject({ adjusts: inClosed("28") });
    expect((await allocate(3)).status).toBe(400);
    expect((await allocate(2)).status).toBe(201);
    const yearly = await team.add({
      ...{ type: "subscription", vendor: "Year", amount: 120, interval: "year" },
      starts_on: `${closed}-15`,
    });
    const { entries } = await team.detail(yearly.id);
    expect((entries as { adjusts: string | null }[]).filter(({ adjusts }) => adjusts !== null).length).toBe(
      1,
    );
    expect((await team.monthOf()).amount_usd).toBe(10);
    await isSound(team);
  });

  test("is left out by repricing, and later prices of its adjustments are those of the time that they adjust", async () => {
    const team = await withTeam();
    const usage = (day: string) => ({
      ...{ type: "usage", provider: "unheard-of", model: "m", unit_type: "requests", quantity: 2 },
      occurred_at: inClosed(day),
    });
    await team.add(usage("13"));
    await team.close();
    const late = await team.add(usage("14"));
    const unpriced = await team.users.viewer.get(`${team.path}/unpriced`);
    expect(unpriced.body.unpriced).toMatchObject([{ line_count: 1 }]);
    const price = (rate: number, starts_at: string) =>
      team.users.admin.call("PUT", `${team.path}/prices`, {
        ...{ provider: "unheard-of", model: "m", unit_type: "requests", rate, starts_at },
      });
    expect((await price(2, inClosed("01"))).status).toBeLessThan(300);
    expect((await price(5, `${openDay}T00:00:00Z`)).status).toBeLessThan(300);
    await expect.poll(async () => (await team.detail(late.id)).amount_usd, { timeout: 20_000 }).toBe(4);
    expect(await team.monthOf()).toMatchObject({ amount_usd: 0, unpriced_count: 1 });
    const past = await team.users.admin.call("PUT", `${team.path}/prices`, {
      ...{ provider: "unheard-of", model: "m", unit_type: "requests", rate: 3, starts_at: inClosed("01") },
      reprice: { from: inClosed("01"), to: `${openDay}T00:00:00Z` },
    });
    expect(past.body.issues).toMatchObject([{ path: "reprice.from" }]);
    await isSound(team);
  });
});

test("A call of a closed month that two programs report counts once, with what both say of it", async () => {
  const team = await withTeam();
  const source = await makeSource(harness, {}, team.workspace);
  await team.close();
  const startMs = Date.parse(inClosed("08"));
  const call = { startMs, endMs: startMs + 900 };
  await source.accept(
    exportSpans(
      [
        {
          ...call,
          ...{ id: "a1", trace: "a1" },
          attributes: {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "anthropic",
            "gen_ai.response.model": "claude-sonnet-4-5-20250929",
            "gen_ai.response.id": "msg_01C9f2Kq7Lw1Zp4Xs8Vb000001",
            "gen_ai.usage.input_tokens": 1300,
            "gen_ai.usage.output_tokens": 20,
          },
        },
      ],
      { scope: "com.anthropic.sdk.typescript" },
    ),
  );
  const [first] = await source.messages();
  await source.accept(
    exportSpans(
      [
        {
          ...{ startMs: startMs - 100, endMs: startMs + 1000 },
          ...{ id: "b1", trace: "b1" },
          attributes: {
            "openinference.span.kind": "LLM",
            "llm.provider": "anthropic",
            "llm.model_name": "claude-sonnet-4-5",
            "llm.token_count.prompt": 1300,
            "llm.token_count.completion": 20,
            "user.id": "u_1",
          },
        },
      ],
      { scope: "openinference.instrumentation.anthropic" },
    ),
  );
  expect(await source.messages()).toHaveLength(1);
  expect(first.occurred_at.getTime()).toBeGreaterThan(startMs + 86_400_000);
  const { rows } = await harness.fixtures.sql.query(
    `select bool_and(adjusts is not null) as is_adjustment,
       max(end_user) filter (where voids is null and voided_by is null) as person
     from public.messages where workspace_id = $1`,
    [team.workspace],
  );
  expect(rows).toEqual([{ is_adjustment: true, person: "u_1" }]);
  expect((await team.monthOf()).amount_usd).toBe(0);
  await isSound(team);
});

test("The erasure of a person changes neither the figures nor the filed export of a closed month", async () => {
  const team = await withTeam();
  const usage = {
    type: "usage",
    provider: "openai",
    model: "gpt-4o",
    unit_type: "output_tokens",
    quantity: 1000,
  };
  await team.add({ ...usage, user: "ada@example.com", occurred_at: inClosed("11") });
  await team.close();
  const before = await team.monthOf();
  const bytes = await team.filed(before.closing?.id as string);
  expect(bytes.toString()).not.toContain("ada@example.com");
  const erased = await team.users.admin.call("POST", `${team.path}/people/erasures`, {
    user: "ada@example.com",
  });
  expect(erased.status).toBe(202);
  await expect
    .poll(async () => (await team.users.admin.get(`${team.path}/people/erasures`)).body.erasures, {
      timeout: 20_000,
    })
    .toMatchObject([{ status: "done", changed_count: 1 }]);
  expect(await team.exported(closed)).not.toContain("ada@example.com");
  expect(await team.monthOf()).toEqual(before);
  expect(await team.filed(before.closing?.id as string)).toEqual(bytes);
  await isSound(team);
});

describe("Closing a month", () => {
  test("is for admins, in their own workspaces, through the service alone", async () => {
    const team = await withTeam();
    for (const role of ["member", "viewer"] as const)
      expect((await team.close(closed, team.users[role])).body.error).toBe("permission_denied");
    expect((await team.close(closed, team.users.stranger)).status).toBe(404);
    expect((await team.close(dayOf(Date.now()).slice(0, 7))).status).toBe(400);
    for (const wrong of ["2026-13", "0000-01", "9999-12"]) expect((await team.close(wrong)).status).toBe(400);
    const listed = await team.users.viewer.get(`${team.path}/activity?adjusts=0000-01`);
    expect(listed.body.issues).toMatchObject([{ path: "query.adjusts" }]);
    expect((await team.close(closed, team.users.owner)).status).toBe(201);
    const { closing } = await team.monthOf();
    for (const role of ["member", "viewer"] as const) {
      const answer = await team.users[role].call("POST", `${team.monthsPath}/${closing?.id}/reopen`, {
        reason: "Why not.",
      });
      expect(answer.body.error).toBe("permission_denied");
    }
    const other = await withTeam();
    const foreign = await other.users.owner.call("POST", `${other.monthsPath}/${closing?.id}/reopen`, {
      reason: "x",
    });
    expect(foreign.status).toBe(404);
    expect((await other.users.owner.get(`${other.monthsPath}/${closing?.id}/export`)).status).toBe(404);
  });

  test("is of months of the time zone, which stays while one is closed, as months stay open while it changes", async () => {
    const team = await withTeam();
    const ask = (time_zone: string) => team.users.admin.call("PATCH", team.path, { time_zone });
    expect((await ask("Pacific/Auckland")).body.time_zone).toBe("Pacific/Auckland");
    // 11 in the evening in Greenwich, and noon of the next day in Auckland.
    const hourBefore = (day: string) => new Date(Date.parse(`${day}T00:00:00Z`) - 3_600_000).toISOString();
    await team.add({ ...expense(2), occurred_at: hourBefore(`${closed}-01`) });
    await team.add({ ...expense(5), occurred_at: hourBefore(openDay) });
    expect((await team.close()).status).toBe(201);
    expect(await team.monthOf()).toMatchObject({ amount_usd: 2 });
    expect((await team.add({ ...expense(1), occurred_at: hourBefore(openDay) })).adjusts).toBeUndefined();
    expect(
      (await team.add({ ...expense(1), occurred_at: hourBefore(`${closed}-01`) })).adjusts,
    ).toBeDefined();

    const refused = await ask("Asia/Tokyo");
    expect([refused.status, refused.body.error]).toEqual([409, "conflict"]);
    expect(refused.body.error_description).toContain("Reopen them in Settings");
    expect((await team.reopen()).status).toBe(201);
    await harness.fixtures.sql.query(
      "insert into public.time_zone_changes (workspace_id, time_zone, requested_at) values ($1, 'Asia/Tokyo', now())",
      [team.workspace],
    );
    const closing = await team.close();
    // The job may have done the change before.
    expect([409, 201]).toContain(closing.status);
    await isSound(team);
  });
});
