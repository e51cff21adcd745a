import { describe, expect, test } from "vitest";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { parseDecimal, toText } from "@/lib/decimal";
import { addAccount, billOf, daysAgo, lineOf, usdOf } from "@/tests/helpers/provider-accounts";
import { withProviders } from "@/tests/helpers/with-providers";
import type { Organization, TrueLine } from "@/tests/providers/simulator/simulate-providers";

// The service pulls in the background, and each test waits until its pulls have ended.
const providers = withProviders();
const withAccount = (provider: PulledProvider, bill: TrueLine[], change?: Partial<Organization>) =>
  addAccount(providers, provider, bill, change);

describe("A pull", () => {
  test("stores every line of OpenAI to the last digit, over several pages, in bills by month", async () => {
    const bill = [...billOf(15, 6), lineOf(5, { unit: "web_searches", model: "web search", usd: "0.25" })];
    bill.push(lineOf(6, { tier: "batch", usd: "0.5" }));
    const { ended, counted, bills, sqlOf } = await withAccount("openai", bill, { pageSize: 3 });
    expect(await ended()).toMatchObject({ state: "healthy", problem: null, held: null });
    const facts = await counted();
    const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(
      sorted(
        facts
          .filter(({ unit }) => unit !== null)
          .map(({ day, model, unit, tier, usd, quantity }) => [day, model, unit, tier, usd, quantity]),
      ),
    ).toEqual(
      sorted(
        bill
          .filter(({ unit }) => unit !== "web_searches")
          .map(({ day, model, unit, tier, usd, quantity }) => [
            day,
            model,
            unit,
            tier ?? null,
            toText(parseDecimal(usd)),
            String(quantity),
          ]),
      ),
    );
    expect(usdOf(facts)).toBe(usdOf(bill));
    const stated = await sqlOf<{ usd: string }>(
      "select amount_usd::text as usd from public.bill_statements where workspace_id = $1",
    );
    expect(usdOf(stated)).toBe(usdOf(bill));
    const list = await bills();
    expect(new Set(list.map(({ name }) => name))).toEqual(
      new Set(bill.map(({ day }) => `openai ${day.slice(0, 7)}`)),
    );
    for (const one of list)
      expect(one).toMatchObject({ format: "pull", created_by: null, providers: ["openai"] });
  });

  test("reads Anthropic's cents as cents, with what is before discounts", async () => {
    const bill = [
      ...billOf(12, 8).map((line) => ({ ...line, model: "claude-opus-4-1", list: "4.5" })),
      lineOf(7, { unit: "web_searches", model: "claude-opus-4-1", usd: "0.01", list: "0.01" }),
    ];
    const { ended, counted } = await withAccount("anthropic", bill, { pageSize: 3 });
    expect(await ended()).toMatchObject({ state: "healthy" });
    const facts = await counted();
    expect(usdOf(facts)).toBe(usdOf(bill));
    expect(facts.map(({ list }) => list)).toEqual([...Array.from({ length: 10 }, () => "4.5"), "0.01"]);
    const countsOf = (lines: { day: string; unit: string; quantity: unknown }[]) =>
      lines.map(({ day, unit, quantity }) => `${day} ${unit} ${quantity}`).sort();
    expect(countsOf(facts as { day: string; unit: string; quantity: unknown }[])).toEqual(countsOf(bill));
  });

  test("reads Anthropic's older report where an organization has no access to the newer one", async () => {
    const bill = billOf(12, 8);
    const { ended, counted } = await withAccount("anthropic", bill, { hasAnalytics: false, pageSize: 3 });
    expect(await ended()).toMatchObject({ state: "healthy", problem: null });
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("reads OpenRouter's activity", async () => {
    const bill = billOf(12, 8);
    const { ended, counted } = await withAccount("openrouter", bill);
    expect(await ended()).toMatchObject({ state: "healthy" });
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("reads Cursor's events as cents, over several pages, and what the plan includes as free", async () => {
    const bill = [
      ...billOf(12, 8).map((line) => ({ ...line, model: "claude-4.5-sonnet" })),
      lineOf(7, { usd: "0", list: "3.25" }),
    ];
    const { ended, counted } = await withAccount("cursor", bill, { pageSize: 1 });
    expect(await ended()).toMatchObject({ state: "healthy", problem: null });
    const facts = await counted();
    expect(usdOf(facts)).toBe(usdOf(bill));
    expect(facts.filter(({ day }) => day === daysAgo(7))).toMatchObject([{ usd: "0", list: "3.25" }]);
    expect(new Set(facts.map(({ unit }) => unit))).toEqual(new Set(["requests"]));
  });

  test.each(["cursor", "anthropic"] as const)(
    "keeps the person whom %s names, with the amounts and quantities of each",
    async (provider) => {
      const model = { model: "claude-opus-4-1" };
      const bill = [
        lineOf(8, { ...model, user: "Ada@example.com", usd: "1.000000000000000001", quantity: 10 }),
        lineOf(8, { ...model, user: "bo@example.com", usd: "2", quantity: 20 }),
        lineOf(8, { ...model, user: "ada@example.com", key: "other", usd: "4", quantity: 40 }),
        // Two of no person, of which Anthropic says the key.
        lineOf(8, { ...model, usd: "8", quantity: 70 }),
        lineOf(8, { ...model, usd: "16", quantity: 10 }),
      ];
      const { ended, sqlOf, admin, path, counted } = await withAccount(provider, bill, { pageSize: 2 });
      expect(await ended()).toMatchObject({ state: "healthy", problem: null });
      expect(usdOf(await counted())).toBe(usdOf(bill));
      const count = (tokens: string, events: string) => (provider === "cursor" ? events : tokens);
      expect(
        await sqlOf(
          `select end_user, trim_scale(sum(amount_usd))::text as usd, trim_scale(sum(quantity))::text as quantity
           from public.billed_facts where workspace_id = $1 group by 1 order by 1`,
        ),
      ).toEqual([
        { end_user: "ada@example.com", usd: "5.000000000000000001", quantity: count("50", "2") },
        { end_user: "bo@example.com", usd: "2", quantity: count("20", "1") },
        { end_user: null, usd: "24", quantity: count("80", "2") },
      ]);
      const { body } = await admin.get(
        `${path.replace("provider-accounts", "reconciliation")}?month=${daysAgo(8).slice(0, 7)}`,
      );
      expect(body).toMatchObject({
        detail: {
          users: [
            { user: "ada@example.com", kind: "user", billed_usd: 5 },
            { user: "bo@example.com", kind: "user", billed_usd: 2 },
            { user: null, kind: "none", billed_usd: 24 },
          ],
        },
      });
    },
  );

  test("reads GitHub's credits, premium requests and seats, and none of them twice", async () => {
    const bill = [
      ...billOf(12, 8).map((line) => ({ ...line, list: "4.5" })),
      lineOf(8, { tier: "batch", usd: "0.04", quantity: 1 }),
      lineOf(8, { unit: "web_searches", model: "seat", usd: "0.633333333333333333", quantity: 1 }),
    ];
    for (const isOld of [false, true]) {
      const { ended, counted, sqlOf } = await withAccount("github", bill, { isOld });
      expect(await ended()).toMatchObject({ state: "healthy", problem: null, account: "acme" });
      const facts = await counted();
      expect(usdOf(facts)).toBe(usdOf(bill));
      // Without the report of credits, the one of all products has them, without models.
      expect(facts.filter(({ model, list }) => model === "gpt-5" && list === "9").length).toBe(isOld ? 0 : 5);
      expect(facts.filter(({ list }) => list === "9").length).toBe(5);
      const lines = await sqlOf<{ line: string }>(
        "select distinct line from public.billed_facts where workspace_id = $1 order by 1",
      );
      expect(lines.map(({ line }) => line)).toEqual([
        "Copilot AI Credits",
        "Copilot Business",
        "Copilot Premium Request",
      ]);
    }
  });

  test("counts the seats of GitHub and Cursor, and those that nobody used for 30 days, in money where it is known", async () => {
    const seats = Array.from({ length: 150 }, (_, index) => ({
      email: `${index}@example.com`,
      lastUsed: index === 0 ? null : index === 1 ? daysAgo(40) : daysAgo(index % 29),
    }));
    const bill = [lineOf(1, { unit: "web_searches", usd: "0.63", quantity: 1 })];
    const github = await withAccount("github", bill, { seats });
    expect((await github.ended()).seats).toEqual({
      ...{ count: 150, unused_count: 2, monthly_usd: 19, unused_monthly_usd: 38 },
    });
    const cursor = await withAccount("cursor", billOf(3, 2), { seats });
    expect((await cursor.ended()).seats).toEqual({
      ...{ count: 150, unused_count: 2, monthly_usd: null, unused_monthly_usd: null },
    });
    expect((await (await withAccount("openai", [])).ended()).seats).toBeNull();
  });

  test("needs the organization of GitHub by its name", async () => {
    const { admin, path } = await withAccount("openai", []);
    for (const account of ["", "github.com/acme", "-acme"]) {
      const { status, body } = await admin.call("POST", path, { provider: "github", key: "k", account });
      expect([status, body.error_description]).toEqual([
        400,
        expect.stringMatching(/organization at GitHub/),
      ]);
    }
  });

  test("reads older answers, which lack fields", async () => {
    const bill = billOf(9, 8);
    const { ended, counted } = await withAccount("openai", bill, { isOld: true });
    expect(await ended()).toMatchObject({ state: "healthy" });
    expect((await counted()).map(({ quantity }) => quantity)).toEqual([null, null, null, null]);
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("that finds the same again changes nothing", async () => {
    const { ended, pull, bills, statements } = await withAccount("anthropic", billOf(12, 1));
    const first = await ended();
    const [before, count] = [await bills(), await statements()];
    expect((await pull()).status).toBe(202);
    const second = await ended();
    expect(second.last_success_at).not.toBe(first.last_success_at);
    expect(await bills()).toEqual(before);
    expect(await statements()).toBe(count);
  });

  test("replaces what the provider has corrected since, and keeps what it said before", async () => {
    for (const [provider, daysBack] of [
      ["openai", 1],
      ["anthropic", 10],
    ] as const) {
      const { ended, pull, organization, bills, counted, statements } = await withAccount(
        provider,
        billOf(12, 1),
      );
      await ended();
      const count = (await statements()) ?? 0;
      const corrected = organization.bill.find(({ day }) => day === daysAgo(daysBack));
      if (!corrected) throw new Error("The bill has no such day.");
      const former = usdOf(organization.bill.filter(({ day }) => day === corrected.day));
      corrected.usd = "7.5";
      await pull();
      expect((await ended()).state).toBe("healthy");
      expect(await statements()).toBe(count + 1);
      expect(usdOf(await counted())).toBe(usdOf(organization.bill));
      const changes = (await bills()).flatMap((one) => one.changes);
      expect(changes).toMatchObject([{ from: corrected.day, former_usd: Number(former), amount_usd: 9.5 }]);
      const all = await bills();
      for (const one of all) expect(one.amount_usd).toEqual(one.counted_usd);
    }
  });

  test("waits as the provider asks where it is throttled, and then ends", async () => {
    const bill = billOf(9, 8);
    const { ended, counted } = await withAccount("openai", bill, { throttled: 1, retryAfter: "1" });
    await expect.poll(async () => (await ended()).state, { timeout: 90_000 }).toBe("healthy");
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("leaves a day without costs out until it can no longer change", async () => {
    const { ended, sqlOf } = await withAccount("openai", [lineOf(9), lineOf(7)]);
    await ended();
    const days = await sqlOf<{ day: string; usd: string }>(
      "select starts_on::text as day, amount_usd::text as usd from public.bill_statements where workspace_id = $1 order by 1",
    );
    expect(days.slice(0, 3).map(({ day }) => day)).toEqual([daysAgo(9), daysAgo(8), daysAgo(7)]);
    expect(days.some(({ day }) => day >= daysAgo(2))).toBe(false);
  });
});
