import { z } from "zod";
import { dayIn } from "@/lib/bills/read-row";
import { toText } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import {
  type Ask,
  type DayRange,
  exactNumber,
  inDollars,
  optionalText,
  type Provider,
  ProviderRefusal,
  type PulledPage,
  type PulledRow,
  type Seats,
  toRow,
  unusedDays,
} from "./provider";

const version = { "X-GitHub-Api-Version": "2022-11-28" };

/** Dollars as JSON numbers, before and after the plan's included usage. */
const money = { sku: z.string(), unitType: z.string(), grossAmount: inDollars, netAmount: inDollars };

/** `…/ai_credit/usage` and `…/premium_request/usage`: one day, by model. */
const byModel = z.object({
  usageItems: z.array(z.object({ ...money, model: optionalText, grossQuantity: exactNumber })),
});

/** `…/usage`: one month of all products, by day, without models. */
const byDay = z.object({
  usageItems: z
    .array(
      z.object({
        ...{ ...money, date: z.string(), product: z.string() },
        ...{ quantity: exactNumber, pricePerUnit: inDollars.optional() },
      }),
    )
    .default([]),
});

/** The products that are AI. Others, such as Actions, are left out. */
const aiProducts = new Set(["copilot", "models", "spark"]);

type Item = z.output<typeof byModel>["usageItems"][number];

const readItem = ({
  sku,
  model,
  unitType,
  grossQuantity,
  grossAmount: list,
  netAmount: amount,
}: Item): PulledRow =>
  toRow({ line: sku, model, unit: unitType, quantity: grossQuantity.text, amount, list });

/** Drops rows whose SKU another report already has, so that the same cost is not counted twice. */
function takeNew<T extends { sku: string }>(items: readonly T[], skus: Set<string>): T[] {
  const found = items.filter(({ sku }) => !skus.has(sku));
  for (const { sku } of found) skus.add(sku);
  return found;
}

/** The parameters of a month (2 parts) or a day (3). */
function queryOf(day: string, parts: 2 | 3): [string, string][] {
  const numbers = day.split("-").map((part) => String(Number(part)));
  return ["year", "month", "day"].slice(0, parts).map((name, at) => [name, numbers[at] ?? ""]);
}

async function* pull(ask: Ask, { from, until }: DayRange, organization: string): AsyncGenerator<PulledPage> {
  const base = `/organizations/${encodeURIComponent(organization)}/settings/billing`;
  const ofDay = async (report: string, day: string): Promise<Item[]> => {
    try {
      return (await ask(`${base}/${report}/usage`, queryOf(day, 3), byModel, version)).usageItems;
    } catch (error) {
      // The organization is billed by the other of the two reports.
      if (error instanceof ProviderRefusal && error.status === 404) return [];
      throw error;
    }
  };
  let month: { name: string; items: z.output<typeof byDay>["usageItems"] } | undefined;
  for (let day = from; day < until; day = addDays(day, 1)) {
    const name = day.slice(0, 7);
    if (month?.name !== name)
      month = { name, items: (await ask(`${base}/usage`, queryOf(day, 2), byDay, version)).usageItems };
    const skus = new Set<string>();
    const rest = month.items
      .filter((item) => dayIn(item.date) === day && aiProducts.has(item.product.toLowerCase()))
      .map(({ quantity: grossQuantity, ...item }) => ({ ...item, model: null, grossQuantity }));
    const credits = takeNew(await ofDay("ai_credit", day), skus);
    const requests = takeNew(await ofDay("premium_request", day), skus);
    yield [{ day, rows: [...credits, ...requests, ...takeNew(rest, skus)].map(readItem) }];
  }
}

const seatsAPage = 100;
const seatPage = z.object({
  seats: z.array(z.object({ created_at: z.string(), last_activity_at: optionalText })).default([]),
});

/** Counts the seats of Copilot. Their price comes from the month's report, if all seats cost the same. */
async function countSeats(ask: Ask, today: string, organization: string): Promise<Seats> {
  const name = encodeURIComponent(organization);
  const since = addDays(today, -unusedDays);
  let [count, unused] = [0, 0];
  for (let number = 1; ; number += 1) {
    const page: [string, string][] = [
      ["per_page", String(seatsAPage)],
      ["page", String(number)],
    ];
    const { seats } = await ask(`/orgs/${name}/copilot/billing/seats`, page, seatPage, version);
    count += seats.length;
    unused += seats.filter((seat) => (seat.last_activity_at ?? seat.created_at).slice(0, 10) < since).length;
    if (seats.length < seatsAPage) break;
  }
  const report = `/organizations/${name}/settings/billing/usage`;
  const { usageItems: items } = await ask(report, queryOf(addDays(today, -1), 2), byDay, version);
  const prices = new Map(
    items.flatMap(({ unitType, pricePerUnit: price }) =>
      price && /^user-?months?$/i.test(unitType) ? [[toText(price), price] as const] : [],
    ),
  );
  const [usd = null] = prices.size === 1 ? prices.values() : [];
  return { count, unused, usd };
}

/** GitHub: AI credits and premium requests of an organization by model, and its seats of Copilot. */
export const github: Provider = {
  url: "https://api.github.com",
  changingDays: 30,
  authorize: (key) => ({ Authorization: `Bearer ${key}` }),
  pull,
  countSeats,
};
