import { afterAll, beforeAll, expect, test } from "vitest";
import { compareBills, describeBills } from "@/lib/bills/compare-bills";
import type { Reconciliation } from "@/lib/contract/bills/reconciliation";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { apiClient } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { clientIn } from "@/tests/helpers/recording";
import { makeTeam } from "@/tests/helpers/team";
import {
  type Simulator,
  simulateProviders,
  type TrueLine,
} from "@/tests/providers/simulator/simulate-providers";

// One service that pulls from a simulator of providers.
const harness = withHarness({ services: 0 });
connectService(() => harness.database);
let simulator: Simulator;
const secret = "a-secret-of-the-scheduler";
beforeAll(async () => {
  simulator = await simulateProviders();
  const sealingKey = Buffer.from("first".padEnd(32, ".")).toString("base64");
  await harness.start({
    PROVIDER_URLS: simulator.providerUrls,
    SEALING_KEYS: sealingKey,
    CRON_SECRET: secret,
  });
});
afterAll(() => simulator.close());

const dayMs = 86_400_000;
/** 25 days that every provider still tells of, which may be of two months. */
const days = Array.from({ length: 25 }, (_, index) =>
  new Date(Date.now() - (26 - index) * dayMs).toISOString().slice(0, 10),
);

type Line = Omit<TrueLine, "day">;
/** What is billed a day: $10, of which 9 % is used with a key that nobody told Outlay of. */
const billed: Record<string, Line[]> = {
  openai: [
    { model: "gpt-4o", unit: "input_tokens", key: "prod", quantity: 1_000_000, usd: "2.5" },
    { model: "gpt-4o", unit: "input_tokens", key: "ingest", quantity: 360_000, usd: "0.9" },
    // At $0.12 a million, as negotiated; the list price is $0.15.
    { model: "gpt-4o-mini", unit: "input_tokens", key: "prod", quantity: 2_000_000, usd: "0.24" },
    { model: "gpt-4.1", unit: "input_tokens", key: "prod", quantity: 1_000_000, usd: "1", tier: "batch" },
    { model: "web search", unit: "web_searches", key: "prod", quantity: 26, usd: "0.26" },
  ],
  anthropic: [
    { model: "claude-opus-4-1", unit: "input_tokens", key: "prod", quantity: 100_000, usd: "1.5" },
    { model: "claude-opus-4-1", unit: "output_tokens", key: "prod", quantity: 12_000, usd: "0.9" },
    { model: "claude-opus-4-1", unit: "cache_write_1h_tokens", key: "prod", quantity: 40_000, usd: "1.2" },
  ],
  openrouter: [
    {
      model: "mistralai/mistral-large",
      unit: "input_tokens",
      key: "endpoint",
      quantity: 750_000,
      usd: "1.5",
    },
  ],
};

/** What is told a day: at list prices, batches and one-hour caches as if they were none. */
const told = [
  { provider: "openai", model: "gpt-4o", unit_type: "input_tokens", quantity: 1_000_000 },
  { provider: "openai", model: "gpt-4o-mini", unit_type: "input_tokens", quantity: 2_000_000 },
  { provider: "openai", model: "gpt-4.1", unit_type: "input_tokens", quantity: 1_000_000 },
  { provider: "anthropic", model: "claude-opus-4-1", unit_type: "input_tokens", quantity: 100_000 },
  { provider: "anthropic", model: "claude-opus-4-1", unit_type: "output_tokens", quantity: 12_000 },
  { provider: "anthropic", model: "claude-opus-4-1", unit_type: "cache_write_tokens", quantity: 40_000 },
  {
    ...{ provider: "openrouter", model: "mistralai/mistral-large", unit_type: "input_tokens" },
    ...{ quantity: 750_000, estimated_cost: 1.5 },
  },
];

async function simulateMonth() {
  const team = await makeTeam(harness);
  const key = await clientIn(harness, team.workspace);
  const { admin } = team.users;
  const messages = days.flatMap((day) =>
    told.map((usage) => ({
      ...{ project: "checkout", source: "api" },
      message: { type: "usage", occurred_at: `${day}T10:00:00Z`, ...usage },
    })),
  );
  const recorded = await key.call("POST", "/api/v1/messages/batch", { messages });
  expect(recorded.body, JSON.stringify(recorded.body)).toMatchObject({ recorded: messages.length });
  for (const [provider, lines] of Object.entries(billed)) {
    const adminKey = `sk-admin-${provider}-${team.slug}`;
    simulator.add(
      adminKey,
      days.flatMap((day) => lines.map((line) => ({ day, ...line }))),
    );
    const account = { provider, key: adminKey, since: days[0] };
    expect((await admin.call("POST", `${team.path}/provider-accounts`, account)).status).toBe(201);
  }
  const accounts = async () =>
    (await admin.get(`${team.path}/provider-accounts`)).body.accounts as unknown as { state: string }[];
  await expect
    .poll(async () => (await accounts()).map(({ state }) => state), { timeout: 20_000 })
    .toEqual(["healthy", "healthy", "healthy"]);
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  return {
    ...team,
    admin,
    months,
    reconciled: async () =>
      Promise.all(
        months.map(async (month) => {
          const { body } = await admin.get(`${team.path}/reconciliation?month=${month}`);
          const { detail } = body as unknown as Reconciliation;
          if (!detail) throw new Error(`There is no bill of ${month}.`);
          return detail;
        }),
      ),
  };
}

/** The alerts of what is billed and not recorded, the latest first, after they were judged. */
async function judgedAlerts(
  { admin, path }: Awaited<ReturnType<typeof simulateMonth>>,
  of = "bill_coverage",
) {
  const { status } = await apiClient(harness.services[0]?.baseUrl ?? "", secret).get("/api/jobs");
  expect(status).toBe(200);
  const { alerts } = (await admin.get(`${path}/alerts`)).body as { alerts: { rule: string }[] };
  return alerts.filter(({ rule }) => rule === of);
}

type Detail = NonNullable<Reconciliation["detail"]>;
type Parts = Pick<Detail, "parts">;

const sumOf = (amounts: unknown[]) => toText(sum(amounts.map((amount) => parseDecimal(String(amount)))));

/** The sums of parts by name. */
function partsOf(of: Parts[]): Record<string, string> {
  const all = of.flatMap(({ parts }) => parts);
  const names = [...new Set(all.map(({ part }) => part))];
  return Object.fromEntries(
    names.map((name) => [
      name,
      sumOf(all.filter(({ part }) => part === name).map(({ amount_usd: usd }) => usd)),
    ]),
  );
}

const modelOf = (details: Detail[], name: string | null) =>
  details.flatMap(({ models }) => models.filter(({ model }) => model === name));

test("A month at three providers is explained to the cent, and recorded equals billed after the proposed clicks", async () => {
  const simulated = await simulateMonth();
  const { admin, path, months, reconciled, workspace } = simulated;
  const before = await reconciled();
  expect(sumOf(before.map(({ billed_usd: usd }) => usd))).toBe("250");
  // Each with its exact amount: 25 days of it.
  expect(partsOf(before)).toEqual({
    ...{ no_source: "22.5", no_telemetry: "6.5", price: "-1.5", tier: "-13.75" },
  });
  const difference = sumOf(before.map(({ difference_usd: usd }) => usd));
  expect(difference).toBe("13.75");
  expect(sumOf(before.flatMap(({ parts }) => parts.map(({ amount_usd: usd }) => usd)))).toBe(difference);
  expect(partsOf(modelOf(before, "gpt-4o"))).toEqual({ no_source: "22.5" });
  expect(partsOf(modelOf(before, "gpt-4o-mini"))).toEqual({ price: "-1.5" });
  expect(partsOf(modelOf(before, "gpt-4.1"))).toEqual({ tier: "-25" });
  expect(partsOf(modelOf(before, "claude-opus-4-1"))).toEqual({ tier: "11.25" });
  expect(partsOf(modelOf(before, null))).toEqual({ no_telemetry: "6.5" });
  expect(partsOf(modelOf(before, "mistralai/mistral-large"))).toEqual({});

  expect(before.flatMap(({ unseen_keys: keys }) => keys)).toMatchObject(
    months.map(() => ({ provider: "openai", key: "ingest" })),
  );
  expect(sumOf(before.flatMap(({ unseen_keys: keys }) => keys.map(({ amount_usd: usd }) => usd)))).toBe(
    "22.5",
  );

  const compared = await compareBills(simulated.slug);
  expect(compared.map(({ is_below: isBelow }) => isBelow)).toEqual(months.map(() => true));
  expect(sumOf(compared.map(({ missing_usd: usd }) => usd))).toBe("13.75");
  expect(describeBills(compared)).toMatch(
    /anthropic: \$[\d.]+ billed, 87.5% recorded, \$[\d.]+ not recorded\./,
  );
  // The command, the page and the alert say one coverage.
  for (const { month, missing_usd: missing, coverage_percent: percent } of before) {
    expect({ missing: String(missing), percent }).toEqual({
      missing: compared.find((one) => one.month === month)?.missing_usd,
      percent: 94.5,
    });
  }
  const rule = await admin.call("PATCH", `${path}/alert-rules/bill_difference`, { parameter: 1 });
  expect(rule.status).toBe(200);
  const latest = before.at(-1);
  expect(await judgedAlerts(simulated)).toMatchObject([{ state: "warning", figures: { percent: 94.5 } }]);
  expect(await judgedAlerts(simulated, "bill_difference")).toMatchObject([
    { state: "warning", figures: { billed_usd: latest?.billed_usd, recorded_usd: latest?.recorded_usd } },
  ]);
  for (const { learned_prices: learned } of before) {
    expect(learned).toMatchObject([
      {
        ...{ provider: "openai", model: "gpt-4o-mini", unit_type: "input_tokens" },
        ...{ rate: 0.00000012, recorded_rate: 0.00000015 },
      },
    ]);
    for (const { provider, model, unit_type, rate, from } of learned) {
      const starts = `${from}T00:00:00Z`;
      const price = { provider, model, unit_type, rate, starts_at: starts, reprice: { from: starts } };
      expect((await admin.call("PUT", `${path}/prices`, price)).status).toBe(200);
    }
  }
  await expect
    .poll(async () => partsOf(await reconciled()), { timeout: 20_000 })
    .toEqual({ no_source: "22.5", no_telemetry: "6.5", tier: "-13.75" });
  expect((await reconciled()).flatMap(({ learned_prices: learned }) => learned)).toEqual([]);

  for (const month of months) {
    const asked = { month, project: "checkout" };
    const { body: seen } = await admin.call("POST", `${path}/bill-adjustments`, { ...asked, dry_run: true });
    const click = { ...asked, expected_usd: seen.amount_usd };
    expect((await admin.call("POST", `${path}/bill-adjustments`, click)).status).toBe(201);
  }
  const after = await reconciled();
  for (const detail of after) {
    expect(detail).toMatchObject({ difference_usd: 0, parts: [], recorded_usd: detail.billed_usd });
    for (const provider of detail.providers) expect(provider).toMatchObject({ difference_usd: 0, parts: [] });
  }
  expect(sumOf(after.map(({ recorded_usd: usd }) => usd))).toBe("250");
  expect(sumOf(after.map(({ adjusted_usd: usd }) => usd))).toBe("15.25");
  expect(await judgedAlerts(simulated)).toMatchObject([
    { state: "ok", figures: { percent: 100, missing_usd: 0 } },
    { state: "warning" },
  ]);
  expect(await judgedAlerts(simulated, "bill_difference")).toMatchObject([
    { state: "ok", figures: { difference_usd: 0 } },
    { state: "warning" },
  ]);
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});
