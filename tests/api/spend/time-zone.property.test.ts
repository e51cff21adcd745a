import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { spendQuery } from "@/lib/contract/spend/spend-query";
import { clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { loadChanges } from "@/lib/spend/changes/service";
import { loadComparison } from "@/lib/spend/explore/comparison";
import { loadAnswer } from "@/lib/spend/explore/service";
import { loadMetrics } from "@/lib/spend/metrics/service";
import { comparedWith } from "@/lib/spend/period";
import { type ExactClient, exactClient } from "@/tests/helpers/ledger/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { recordRandomSpend } from "@/tests/helpers/ledger/random-spend";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { correspondingTo, type Line, loadLines, loadRange, matches } from "@/tests/helpers/spend";
import { addUser, type User } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";
import { instantOf, offsetOf } from "@/tests/helpers/zone-clock";

const harness = withSharedHarness();
const runs = Math.ceil(Number(process.env.SPEND_RUNS ?? 60) / 4);
const zones = ["America/New_York", "Pacific/Auckland", "Asia/Kolkata", "Pacific/Chatham", "UTC"] as const;
type Zone = (typeof zones)[number];

/** Days on which clocks are put forward or back, ends of months, and days beside them. */
const days = [
  ...["2026-03-07", "2026-03-08", "2026-03-09", "2026-04-04", "2026-04-05", "2026-04-06"],
  ...["2025-09-27", "2025-09-28", "2025-11-01", "2025-11-02", "2025-11-03", "2026-01-31", "2026-02-01"],
];

let slug: string;
let id: string;
let baseUrl: string;
let token: string;
let owner: User;
let viewer: ExactClient;
let key: ExactClient;
let secret: string;
let lines: Line[];

beforeAll(async () => {
  ({ id, slug, baseUrl, viewer } = await recordRandomSpend(harness, { now: Date.now(), seed: 11 }));
  owner = await addUser(harness, id, "owner");
  token = (await addUser(harness, id, "viewer")).token;
  ({ secret } = await harness.fixtures.key(id));
  key = exactClient(baseUrl, secret);
  // A cost beside each midnight, and costs of days without a time.
  const instants = days.flatMap((day) => [
    Date.parse(day),
    ...zones.flatMap((zone) => [-1, 0, 1].map((ms) => instantOf(zone, Date.parse(day)) + ms)),
  ]);
  const posts = instants.map((at, index) => ({
    project: "alpha",
    source: "api",
    message: {
      type: "expense",
      vendor: "Figma",
      amount: `0.${String(index + 1).padStart(4, "0")}`,
      occurred_at: new Date(at).toISOString(),
    },
  }));
  const { body } = await key.bulk(posts);
  for (const result of body.results as object[]) expect(result).toHaveProperty("amount_usd");
  lines = await loadLines(harness.fixtures, id);
}, 120_000);

/** Calendars of the JavaScript engine, which are made once: making one takes longer than its answer. */
const calendars = Object.fromEntries(
  zones.map((zone) => [zone, new Intl.DateTimeFormat("en-CA", { timeZone: zone })]),
) as Record<Zone, Intl.DateTimeFormat>;

/** The day of a line by the JavaScript engine's calendar; a cost of exactly midnight UTC is of that day everywhere. */
function dayOf(zone: Zone, { at }: Line): string {
  if (at.endsWith("T00:00:00.000000Z")) return at.slice(0, 10);
  return calendars[zone].format(new Date(at));
}

/** The answer of the assistants' tool `query_spend`. Its amounts are JavaScript numbers. */
async function askTool(asked: object): Promise<Record<string, unknown>> {
  const { body, headers } = toolCall("2026", "query_spend", asked as Record<string, unknown>);
  const response = await fetch(`${baseUrl}/api/mcp`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
  });
  const text = (await response.text()).replace(/^event:.*\ndata: /s, "");
  return JSON.parse(text).result.structuredContent;
}

/** Changes the zone, and waits until it is in use. */
async function change(zone: string): Promise<void> {
  const path = `${baseUrl}/api/v1/workspaces/${slug}`;
  const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
  const { status } = await fetch(path, {
    method: "PATCH",
    headers,
    body: JSON.stringify({ time_zone: zone }),
  });
  expect(status).toBe(200);
  const state = async () => {
    // Does nothing while the service's own job does a step.
    await harness.fixtures.sql.query("select private.change_time_zone_step(500)");
    return (await viewer.get(`/api/v1/workspaces/${slug}/org`)).body.workspace;
  };
  await expect.poll(state, { timeout: 120_000 }).toMatchObject({ time_zone: zone, next_time_zone: null });
}

/** The sum of every row of activity. */
async function sumActivity(query: URLSearchParams): Promise<string> {
  const amounts: unknown[] = [];
  for (let cursor: unknown; cursor !== null; ) {
    const page = new URLSearchParams([...query, ["limit", "100"]]);
    if (typeof cursor === "string") page.set("cursor", cursor);
    const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/activity?${page}`);
    expect(status, JSON.stringify(body)).toBe(200);
    amounts.push(...(body.activity as Record<string, unknown>[]).map((row) => row.amount_usd));
    cursor = body.next_cursor;
  }
  return sumOf(amounts);
}

const sumOf = (amounts: unknown[]) => show(total(amounts.map((amount) => exact(String(amount)))));
const total_of = (body: Record<string, unknown>) => sumOf([body.total_usd]);

async function sumExport(query: URLSearchParams): Promise<string> {
  const response = await fetch(`${baseUrl}/api/v1/workspaces/${slug}/export?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const rows: Record<string, string>[] = parse(await response.text(), { columns: true, bom: true });
  return sumOf(rows.map((row) => row.amount_usd));
}

test("Gives one total of any days, in figures, Explore, rows, exports and keys: that of the rows of these days", {
  timeout: 4_000 * runs * zones.length + 60_000,
}, async () => {
  const today = (zone: Zone) => calendars[zone].format(new Date());
  for (const zone of zones) {
    await change(zone);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...days),
        fc.constantFrom(...days),
        fc.constantFrom(undefined, "Figma", "acme"),
        async (a, b, provider) => {
          const [from = "", to = ""] = [a, b].sort();
          const inRange = lines.filter((line) => {
            const day = dayOf(zone, line);
            return line.environment === "live" && day >= from && day <= to && day <= today(zone);
          });
          const found = inRange.filter(
            (line) => provider === undefined || line.provider?.toLowerCase() === provider.toLowerCase(),
          );
          const expected = show(total(found.map(({ amount }) => amount)));
          const query = new URLSearchParams({ period: "range", from, to, environment: "live" });
          if (provider) query.set("provider", provider);
          const metrics = await viewer.get(`/api/v1/workspaces/${slug}/metrics?${query}`);
          expect(total_of(metrics.body.totals as Record<string, unknown>)).toBe(expected);
          expect(await sumActivity(query)).toBe(expected);
          expect(await sumExport(query)).toBe(expected);
          const filters = provider ? [{ field: "provider", values: [provider] }] : [];
          for (const group of ["project", "day", "unit"]) {
            const asked = { group_by: [group], measure: "cost", from, to, filters };
            const answer = await viewer.send(`/api/v1/workspaces/${slug}/spend/query`, asked);
            const ofKey = await key.send("/api/v1/spend/query", asked);
            const { cost_usd: ofTool } = (await askTool(asked)).totals as Record<string, unknown>;
            expect(Number(ofTool), group).toBe(Number(expected));
            for (const { status, body } of [answer, ofKey]) {
              expect(status, JSON.stringify(body)).toBe(200);
              const { cost_usd: cost } = body.totals as Record<string, unknown>;
              expect(sumOf([cost]), group).toBe(expected);
            }
          }
          // A project between the midnights of the zone, and from noon on.
          const starts = instantOf(zone, Date.parse(from));
          const ends = instantOf(zone, Date.parse(to) + 86_400_000);
          const instants = new URLSearchParams({
            from: new Date(starts).toISOString(),
            to: new Date(ends).toISOString(),
          });
          const ofProject = await key.get(`/api/v1/projects/alpha/spend?${instants}`);
          const alpha = inRange.filter(({ project }) => project === "alpha");
          expect(total_of(ofProject.body)).toBe(show(total(alpha.map(({ amount }) => amount))));
          const noon = instantOf(zone, Date.parse(from) + 43_200_000);
          instants.set("from", new Date(noon).toISOString());
          const fromNoon = await key.get(`/api/v1/projects/alpha/spend?${instants}`);
          const later = alpha.filter((line) => {
            if (dayOf(zone, line) > from) return true;
            return !line.at.endsWith("T00:00:00.000000Z") && Date.parse(line.at) >= noon;
          });
          expect(total_of(fromNoon.body)).toBe(show(total(later.map(({ amount }) => amount))));
        },
      ),
      { numRuns: runs },
    );
  }
});

/** A period with what it is compared with, at an instant at which the cut of that is within a millisecond of a cost. */
const comparison = fc.record({
  place: fc.nat(),
  days: fc.constantFrom(1, 7, 28, 30, 92, 364, 365),
  ms: fc.constantFrom(-1, 0, 1),
  period: fc.constantFrom(
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "year_to_date",
    "last_month",
    "last_quarter",
  ),
  how: fc.constantFrom({}, { compare: "last_year" as const }),
});

test("Compares with the same stretch by the clock of the zone, in figures, causes and Explore, whatever the zone", {
  timeout: 4_000 * runs * zones.length + 60_000,
}, async () => {
  for (const zone of zones) {
    await change(zone);
    // What the clock showed at each cost, as if it were of UTC.
    const shown = lines.map((line) => {
      const at = Date.parse(line.at);
      if (line.at.endsWith("T00:00:00.000000Z")) return line;
      const digits = line.at.slice(23);
      return { ...line, at: new Date(at + offsetOf(zone, at)).toISOString().slice(0, -1) + digits };
    });
    await fc.assert(
      fc.asyncProperty(comparison, async ({ place, days: back, ms, period, how }) => {
        const cost = Date.parse(lines[place % lines.length]?.at ?? "");
        const instant = cost + back * 86_400_000 + ms;
        const now = instant + offsetOf(zone, instant);
        const filter = { period, environment: "live", ...how } as Parameters<typeof loadRange>[1];
        const range = await loadRange(harness.fixtures, filter, now);
        const stretch = correspondingTo(filter, range, now)?.stretch;
        if (!stretch) throw new Error("Nothing is compared.");
        const expected = show(
          total(shown.filter((line) => matches(line, filter, stretch)).map(({ amount }) => amount)),
        );
        const client = await harness.fixtures.sql.connect();
        try {
          const clock = clockOf(zone, instant);
          const asked = metricsQuery.parse(filter);
          const { previous } = await loadMetrics(client, id, asked, clock);
          expect(sumOf([figure(previous?.to_point_usd)])).toBe(expected);
          const compared = comparedWith(asked, clock.now);
          if (!compared) throw new Error("Nothing is compared.");
          const changes = await loadChanges(client, { workspaceId: id, environment: "live" }, asked, clock);
          expect(sumOf([figure(changes?.before_usd)])).toBe(expected);
          const today = new Date(now).toISOString().slice(0, 10);
          const to = [
            new Date(Date.parse(range.until) - 86_400_000).toISOString().slice(0, 10),
            today,
          ].sort()[0];
          const query = spendQuery.parse({ from: range.from, to, environment: "live", group_by: ["type"] });
          const who = { workspaceId: id, isKey: false, isOfUsers: false };
          const answer = await loadAnswer(client, who, query, clock);
          const found = await loadComparison(client, who, { query, answer, compared }, clock);
          expect(sumOf([figure(found?.totals.before)])).toBe(expected);
          expect(found?.stretch).toEqual(previous?.to_point);
        } finally {
          client.release();
        }
      }),
      { numRuns: runs },
    );
  }
});

const figure = (value: unknown) => (value instanceof ExactNumber ? value.text : value);

test("Is changed by owners and admins alone, one change at a time, and to zones alone", async () => {
  const patch = async (who: User, zone: string) => {
    const response = await fetch(`${baseUrl}/api/v1/workspaces/${slug}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${who.token}`, "content-type": "application/json" },
      body: JSON.stringify({ time_zone: zone }),
    });
    const body = await response.json();
    return [response.status, body.error ?? body.next_time_zone ?? body.time_zone];
  };
  const [admin, member] = [await addUser(harness, id, "admin"), await addUser(harness, id, "member")];
  expect(await patch(member, "Asia/Kolkata")).toEqual([403, "permission_denied"]);
  expect(await patch(admin, "Mars/Olympus")).toEqual([400, "validation_failed"]);
  // A zone that waits: no step has been done.
  await harness.fixtures.sql.query(
    "insert into public.time_zone_changes (workspace_id, time_zone) values ($1, 'Asia/Tokyo')",
    [id],
  );
  const refused = await patch(admin, "Asia/Kolkata");
  // The job may have done it before the call.
  expect([
    [409, "conflict"],
    [200, "Asia/Kolkata"],
  ]).toContainEqual(refused);
});
