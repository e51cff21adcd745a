import { describe, expect, test } from "vitest";
import { correctRates } from "@/lib/ledger/rate-corrections/service";
import { reconcile } from "@/lib/ledger/reconcile/service";
import { signUpUser } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { shippedRate } from "@/tests/helpers/ledger/shipped-rates";
import { day, expense, rates, withPublished, xml } from "@/tests/helpers/published";

const { harness, rowsOf, files, fetchRates, newWorkspace } = withPublished(1);

describe("What was converted at another day's rate", () => {
  test("Is listed, then corrected with all sums, budgets and the spend of keys, and audited; what was voided stays", async () => {
    const { slug, workspace, client } = await newWorkspace();
    const correct = (dryRun: boolean) => correctRates({ dryRun, workspace: slug });
    await rowsOf(
      "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'Team', 'global', 100000)",
      [workspace],
    );
    const at = `${day(1)}T12:00:00Z`;
    // The process has forgotten the rates of earlier tests.
    const told = async () => (await client.post(expense({ occurred_at: at }), {}, "?dry_run=true")).body.rate;
    await expect
      .poll(told, { timeout: 20_000, interval: 500 })
      .toMatchObject({ rate_date: shippedRate("EUR", day(1)).date });
    const ids: string[] = [];
    for (const more of [{}, { amount: 7.5, currency: "GBP" }, { amount: 3 }])
      ids.push(String((await client.post(expense({ occurred_at: at, ...more }))).body.id));
    const voided = (await client.post(expense({ occurred_at: at, amount: 50 }))).body;
    const owner = await signUpUser(harness.services[0]?.baseUrl ?? "");
    await rowsOf(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [workspace, owner.id],
    );
    const path = `/api/v1/workspaces/${slug}/messages/${voided.id}/void`;
    expect((await owner.call("POST", path, { reason: "Twice." })).status).toBeLessThan(300);
    const yearly = { type: "subscription", vendor: "S", amount: 1000, currency: "EUR", interval: "year" };
    const subscription = { project: "alpha", source: "api", message: { ...yearly, starts_on: day(1) } };
    ids.push(String((await client.post(subscription)).body.id));
    const right = (await client.post(expense({ occurred_at: "2026-09-15T00:00:00Z" }))).body;
    const usd = (await client.post(expense({ currency: "USD", occurred_at: at }))).body;
    // One corrects a cost that was first recorded in an earlier month, whose key spend it belongs to.
    await rowsOf(
      "update public.messages set counted_at = created_at - interval '40 days' where workspace_id = $1 and id = $2",
      [workspace, ids[2]],
    );
    await rowsOf(
      `with moved as (
         update public.key_spend as s set amount_usd = s.amount_usd - m.amount_usd, message_count = s.message_count - 1
         from public.messages as m
         where m.workspace_id = $1 and m.id = $2 and s.workspace_id = $1 and s.api_key_id = m.api_key_id
         returning s.api_key_id, m.amount_usd, m.counted_at
       )
       insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count)
       select $1, api_key_id, date_trunc('month', counted_at at time zone 'UTC')::date, amount_usd, 1 from moved`,
      [workspace, ids[2]],
    );
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    const total = async () =>
      Number(
        (await rowsOf("select sum(amount_usd) from public.messages where workspace_id = $1", [workspace]))[0]
          .sum,
      );
    const recorded = await total();
    const [{ sum: recordedThen }] = await rowsOf(
      "select trim_scale(sum(amount_usd)) as sum from public.messages where workspace_id = $1 and to_char(occurred_at at time zone 'UTC', 'YYYY-MM') = $2",
      [workspace, day(1).slice(0, 7)],
    );
    expect(await correct(false)).toEqual([]);

    files().set("/rates", xml({ [day(1)]: { ...rates, USD: "1.2", GBP: "0.8" } }));
    await fetchRates();
    const listed = await correct(true);
    expect(listed).toMatchObject([{ messages: 4, keys: ["Test key"] }]);
    // The yearly charge reaches into eleven later months.
    const [first, ...later] = listed[0]?.budgets ?? [];
    expect([first?.before_usd, first?.after_usd]).toEqual([recordedThen, "334.85"]);
    expect(later.map(({ after_usd: after }) => after)).toEqual(Array.from({ length: 11 }, () => "100"));
    expect(Object.keys(listed[0]?.months ?? {}).length).toBeGreaterThanOrEqual(12);
    expect(await total()).toBe(recorded);
    expect(
      await rowsOf("select from public.audit_log where workspace_id = $1 and action = 'messages.converted'", [
        workspace,
      ]),
    ).toEqual([]);

    const corrected = await correct(false);
    expect(corrected).toEqual(listed);
    const amounts = await rowsOf(
      "select id, sum(amount_usd)::float8 as amount, min(price ->> 'date') as date from public.messages where workspace_id = $1 group by id",
      [workspace],
    );
    const amountOf = (id: string) => amounts.find((each) => each.id === id);
    expect(ids.map((id) => amountOf(id).amount)).toEqual([120, 11.25, 3.6, 1200]);
    expect(new Set(ids.map((id) => amountOf(id).date))).toEqual(new Set([day(1)]));
    expect(amountOf(String(right.id)).amount).toBe(right.amount_usd);
    expect(amountOf(String(usd.id)).amount).toBe(100);
    expect(amountOf(String(voided.id)).amount).toBe(voided.amount_usd);
    expect((await total()) - recorded).toBeCloseTo(Number(corrected[0]?.change_usd), 9);
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    expect((await reconcile({ repair: false })).found).toEqual([]);
    const audited = await rowsOf(
      "select after from public.audit_log where workspace_id = $1 and action = 'messages.converted'",
      [workspace],
    );
    expect(audited.map(({ after }) => after.messages)).toEqual([4]);
    expect(await correct(true)).toEqual([]);
  });
});
