import type { Page } from "@playwright/test";
import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import type { apiKeyList } from "@/lib/contract/access/api-keys";
import type { priceList, unpricedList } from "@/lib/contract/ledger/prices";
import type { ActivityList } from "@/lib/contract/spend/activity";
import type { budgetList } from "@/lib/contract/spend/budgets";
import type { Metrics } from "@/lib/contract/spend/metrics";
import type { Project } from "@/lib/contract/spend/projects";
import type { monthSummary } from "@/lib/contract/spend/reads";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { parseJson } from "@/lib/http/json";
import { demoMessages } from "@/lib/ledger/demo/messages";
import { apiClient } from "@/tests/helpers/client";
import { signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { digitsIn, readPage } from "./html";
import { digitsOf, readApi, unfoldAll } from "./spend";

/** The figures that a page shows or should show: the digits under each name, in the page's order. */
type Figures = Record<string, string[]>;

/** It changes with time: the API is asked a moment after the page. */
const moving = ["previous.to_point_usd"];

/** What changed is computed by the page alone, and summed here; `db/changes` and `db/subjects` compare it with the ledger. */
const ofChanges = (name: string) => name === "change" || name.startsWith("changes.");

const totalOf = (digits: string[]) => toText(sum(digits.map(parseDecimal)));

/** Every figure of a page as it is sent: one that is not compared fails the test. */
function figuresIn(html: string): Figures {
  const names = [...html.matchAll(/\sdata-figure="([^"]*)"/g)].map(([, name = ""]) => name);
  return Object.fromEntries([...new Set(names)].map((name) => [name, digitsIn(html, name)]));
}

/** The same of a page with folded parts, whose content a browser renders when they are unfolded. */
async function unfoldFigures(page: Page, path: string): Promise<Figures> {
  await page.goto(path);
  await expect(page.locator("[data-figure]").first()).toBeVisible();
  await unfoldAll(page);
  return page.locator("[data-figure]").evaluateAll((elements) => {
    const figures: Figures = {};
    for (const element of elements) {
      const name = element.getAttribute("data-figure") ?? "";
      figures[name] = [...(figures[name] ?? []), element.getAttribute("data-exact") ?? ""];
    }
    return figures;
  });
}

/** Compares all figures of a page with the expected ones. */
async function expectFigures(page: Page, path: string, read: () => Promise<Figures>): Promise<Figures> {
  const sent = await readPage(page.request, path);
  const expected = await read();
  const shown = /<details\b/.test(sent.html) ? await unfoldFigures(page, path) : figuresIn(sent.html);
  const still = (figures: Figures) =>
    Object.fromEntries(
      Object.entries(figures).filter(
        ([name, digits]) => digits.length > 0 && !moving.includes(name) && !ofChanges(name),
      ),
    );
  expect(still(shown), path).toEqual(still(expected));
  expect(totalOf(shown["changes.causes"] ?? []), path).toBe(shown["changes.difference"]?.[0] ?? "0");
  for (const name of moving) {
    const [before = [], after = []] = [shown[name], expected[name]];
    expect(before.length, `${path} ${name}`).toBe(after.length);
    for (const [index, digits] of before.entries()) {
      if (digits === after[index]) continue;
      expect(Number(digits) / Number(after[index]), `${path} ${name}`).toBeCloseTo(1, 2);
    }
  }
  return shown;
}

/** Records the demo team's four months in a workspace. @returns the secret of a key that reads it */
async function recordDemo(world: World, slug: string): Promise<string> {
  const { secret } = await world.fixtures.key(await workspaceId(world, slug));
  const messages = demoMessages(Date.now()).map(({ at, project, source, message }) => ({
    project,
    source,
    message: {
      ...message,
      ...("quantity" in message && { quantity: Number(message.quantity) }),
      ...("amount" in message && { amount: Number(message.amount) }),
      occurred_at: new Date(at).toISOString(),
    },
  }));
  for (let start = 0; start < messages.length; start += 1_000) {
    const part = messages.slice(start, start + 1_000);
    const { body } = await apiClient(world.service.baseUrl, secret).post({ messages: part }, {}, "/batch");
    expect(body).toMatchObject({ recorded: part.length });
  }
  return secret;
}

/** The figures of a page of metrics. */
function figuresOfMetrics(
  { totals, booked_ahead: ahead, previous, series, forecast_usd: forecast, ...breakdowns }: Metrics,
  dimensions: ("project" | "model" | "feature" | "provider" | "key" | "user" | "tag")[],
): Figures {
  const totalsOf = (slices: { total_usd: Metrics["totals"]["total_usd"] }[]) =>
    digitsOf(slices.map(({ total_usd }) => total_usd));
  return {
    "totals.total_usd": digitsOf([totals.total_usd]),
    "totals.message_count": [String(totals.message_count)],
    "totals.unpriced_count": totals.unpriced_count > 0 ? [String(totals.unpriced_count)] : [],
    "booked_ahead.total_usd": digitsOf(ahead ? [ahead.total_usd] : []),
    "previous.totals.total_usd": digitsOf(previous ? [previous.totals.total_usd] : []),
    "previous.totals.message_count": previous ? [String(previous.totals.message_count)] : [],
    "previous.to_point_usd": digitsOf(previous ? [previous.to_point_usd] : []),
    forecast_usd: digitsOf(forecast ? [forecast] : []),
    "series.points.total_usd": totalsOf(series.points),
    "series.points.layers_usd": digitsOf(series.points.flatMap(({ layers_usd }) => layers_usd)),
    "series.previous.total_usd": totalsOf(series.previous.slice(0, series.points.length)),
    ...Object.fromEntries(
      dimensions.map((dimension) => [`by_${dimension}`, totalsOf(breakdowns[`by_${dimension}`])]),
    ),
  };
}

test("Shows the API's figures on every page for four months of a team, and parts sum to their whole", async ({
  page,
  world,
}) => {
  test.setTimeout(300_000);
  const { slug } = await signUp(page);
  const api = `/api/v1/workspaces/${slug}`;
  const key = await recordDemo(world, slug);
  for (const budget of [
    { scope_type: "global", amount: 9_000 },
    { scope_type: "project", scope_value: "code-review", amount: 20.5 },
    { scope_type: "feature", scope_value: "chat", amount: 1_000 },
  ]) {
    const made = await page.request.post(`${api}/budgets`, {
      headers: { "sec-fetch-site": "same-origin" },
      data: budget,
    });
    expect(made.status()).toBe(201);
  }

  await test.step("overview", async () => {
    for (const query of [
      "",
      "?period=week",
      "?period=quarter&by=model",
      "?period=year",
      "?period=all&by=provider",
      "?period=last_month",
      "?from=2026-09-10&to=2026-10-05&compare=last_year",
    ]) {
      const parameters = query.replace("by=", "group_by=");
      const shown = await expectFigures(page, `/${slug}${query}`, async () => ({
        ...figuresOfMetrics(await readApi<Metrics>(page, `${api}/metrics${parameters}`), [
          "project",
          "model",
          "feature",
          "provider",
          "user",
          "tag",
        ]),
        "previous.totals.message_count": [],
      }));
      const [headline] = shown["totals.total_usd"] ?? [];
      for (const part of ["by_project", "by_model", "by_feature", "by_provider"])
        expect(totalOf(shown[part] ?? []), part).toBe(headline);
      expect(totalOf(shown["series.points.total_usd"] ?? [])).toBe(headline);
      expect(totalOf(shown["series.points.layers_usd"] ?? [])).toBe(headline);
    }
  });

  await test.step("projects", async () => {
    const { projects } = await readApi<{ projects: Project[] }>(page, `${api}/projects`);
    const shown = await expectFigures(page, `/${slug}/projects`, async () =>
      Object.fromEntries(
        projects.flatMap(({ slug: project, month_usd, month_message_count }) => [
          [`${project}.range_usd`, digitsOf([month_usd])],
          [`${project}.range_message_count`, [String(month_message_count)]],
        ]),
      ),
    );
    const answer = await page.request.get("/api/v1/summary/month", {
      headers: { authorization: `Bearer ${key}` },
    });
    const summary = parseJson(await answer.text()) as z.output<typeof monthSummary>;
    const parts = projects.flatMap((project) => shown[`${project.slug}.range_usd`] ?? []);
    const month = await readApi<Metrics>(page, `${api}/metrics`);
    expect(totalOf(parts)).toBe(exactText(month.totals.total_usd));
    for (const { value, total_usd: total } of month.by_project)
      expect(shown[`${value}.range_usd`], value ?? "").toEqual([exactText(total)]);
    // A summary is of the whole month.
    const ahead = exactText(month.booked_ahead?.total_usd ?? 0);
    expect(exactText(summary.total_usd)).toBe(totalOf([...parts, ahead]));
    await expectFigures(page, `/${slug}/projects/research`, async () =>
      figuresOfMetrics(await readApi<Metrics>(page, `${api}/metrics?project=research&group_by=model`), [
        "model",
        "feature",
        "provider",
        "key",
        "tag",
      ]),
    );
  });

  await test.step("activity", async () => {
    for (const query of [
      "period=month&environment=live",
      "period=all&project=search&environment=live",
      "period=quarter&type=expense&environment=live",
      "period=year&provider=openai&model=gpt-4o&environment=live",
      "period=all&feature=&environment=live",
      "environment=test",
    ]) {
      const { totals } = await readApi<Metrics>(page, `${api}/metrics?${query}`);
      await expectFigures(page, `/${slug}/activity?${query}`, async () => {
        const list = await readApi<ActivityList>(page, `${api}/activity?${query}&limit=50`);
        const { total_usd, usage_usd, subscription_usd, expense_usd } = totals;
        return {
          "totals.total_usd": digitsOf([total_usd]),
          // Nothing at all needs no sums by type.
          ...(totals.message_count > 0 && {
            "totals.usage_usd": digitsOf([usage_usd]),
            "totals.subscription_usd": digitsOf([subscription_usd]),
            "totals.expense_usd": digitsOf([expense_usd]),
          }),
          "totals.message_count": [String(totals.message_count)],
          "totals.unpriced_count": totals.unpriced_count > 0 ? [String(totals.unpriced_count)] : [],
          // Unpriced rows say so instead of showing an amount.
          "activity.amount_usd": digitsOf(
            list.activity
              .filter(({ cost_status: status }) => status !== "unpriced")
              .map(({ amount_usd }) => amount_usd),
          ),
        };
      });
    }
  });

  await test.step("keys, budgets, prices", async () => {
    await expectFigures(page, `/${slug}/keys`, async () => {
      const { api_keys: keys } = await readApi<z.output<typeof apiKeyList>>(page, `${api}/api-keys`);
      return { spent: digitsOf(keys.map(({ spent }) => spent)) };
    });
    await expectFigures(page, `/${slug}/budgets`, async () => {
      const { budgets } = await readApi<z.output<typeof budgetList>>(page, `${api}/budgets`);
      // Those closest to their limit come first.
      budgets.sort((a, b) => Number(exactText(b.percent_used)) - Number(exactText(a.percent_used)));
      return {
        spent: digitsOf(budgets.map(({ spent }) => spent)),
        amount: digitsOf(budgets.map(({ amount }) => amount)),
        remaining: digitsOf(budgets.map(({ remaining }) => remaining)),
        percent_used: digitsOf(budgets.map(({ percent_used }) => percent_used)),
        forecast: digitsOf(budgets.flatMap(({ forecast }) => forecast ?? [])),
      };
    });
    await expectFigures(page, `/${slug}/settings/prices`, async () => {
      const { prices, disputed } = await readApi<z.output<typeof priceList>>(page, `${api}/prices`);
      const { unpriced } = await readApi<z.output<typeof unpricedList>>(page, `${api}/unpriced`);
      return {
        rate: digitsOf(prices.map(({ rate }) => rate)),
        "applied.rate": digitsOf(disputed.map(({ applied }) => applied.rate)),
        "other.rate": digitsOf(disputed.map(({ other }) => other.rate)),
        quantity: digitsOf(unpriced.map(({ quantity }) => quantity)),
      };
    });
  });
});
