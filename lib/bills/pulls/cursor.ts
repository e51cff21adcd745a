import { z } from "zod";
import type { Dollars } from "@/lib/bills/money";
import { zero } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import {
  type Ask,
  type DayRange,
  inCents,
  optionalText,
  type Provider,
  ProviderFailure,
  type PulledPage,
  type PulledRow,
  type Seats,
  toRow,
  unusedDays,
} from "./provider";

const eventsAPage = 1000;

/** `/teams/filtered-usage-events`: cents with decimals, as JSON numbers. */
const page = z.object({
  usageEvents: z.array(
    z.object({
      model: optionalText,
      kind: optionalText,
      userEmail: optionalText,
      chargedCents: inCents.nullish(),
      serviceAccountName: optionalText,
    }),
  ),
  pagination: z.object({ hasNextPage: z.boolean() }).optional(),
});

/** Whether the plan includes the event: then it is not charged, and `chargedCents` is its list price. */
const isIncluded = (kind: string | null | undefined) => /included/i.test(kind ?? "");

type Event = z.output<typeof page>["usageEvents"][number];

function readEvent({
  model,
  kind,
  chargedCents,
  serviceAccountName: key,
  userEmail: user,
}: Event): PulledRow {
  const charged = chargedCents ?? (zero as Dollars);
  const amount = isIncluded(kind) ? (zero as Dollars) : charged;
  return toRow({ model, line: kind, key, user, unit: "requests", quantity: "1", amount, list: charged });
}

const msOf = (day: string) => Date.parse(`${day}T00:00:00Z`);

async function* pull(ask: Ask, { from, until }: DayRange): AsyncGenerator<PulledPage> {
  // Events come in an order that Cursor does not state, so each day is asked for by itself.
  for (let day = from; day < until; day = addDays(day, 1)) {
    const days = { startDate: msOf(day), endDate: msOf(addDays(day, 1)) - 1, pageSize: eventsAPage };
    for (let number = 1; ; number += 1) {
      const body = { ...days, page: number };
      const { usageEvents: events, pagination } = await ask(
        "/teams/filtered-usage-events",
        [],
        page,
        {},
        body,
      );
      yield [{ day, rows: events.map(readEvent) }];
      if (!pagination?.hasNextPage) break;
      if (events.length === 0)
        throw new ProviderFailure("It says that there is more, and has no more events.");
    }
  }
}

const members = z.object({
  teamMembers: z.array(z.object({ email: z.string(), isRemoved: z.boolean().optional() })),
});

/** `/teams/daily-usage-data`: whether each member used Cursor on each day. */
const dailyUse = z.object({
  data: z.array(z.object({ email: optionalText, isActive: z.boolean() })),
  pagination: z.object({ hasNextPage: z.boolean() }).optional(),
});

async function countSeats(ask: Ask, today: string): Promise<Seats> {
  const { teamMembers } = await ask("/teams/members", [], members);
  const seated = new Set(teamMembers.filter(({ isRemoved }) => !isRemoved).map(({ email }) => email));
  const unused = new Set(seated);
  const [first, next] = [addDays(today, 1 - unusedDays), addDays(today, 1)];
  const days = { startDate: msOf(first), endDate: msOf(next) - 1, pageSize: eventsAPage };
  for (let number = 1; ; number += 1) {
    const found = await ask("/teams/daily-usage-data", [], dailyUse, {}, { ...days, page: number });
    for (const { email, isActive } of found.data) if (isActive && email) unused.delete(email);
    if (!found.pagination?.hasNextPage || found.data.length === 0) break;
  }
  return { count: seated.size, unused: unused.size, usd: null };
}

/** Cursor: the usage events of a team, by model, kind and member, and its members. */
export const cursor: Provider = {
  url: "https://api.cursor.com",
  changingDays: 3,
  authorize: (key) => ({ Authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` }),
  pull,
  countSeats,
};
