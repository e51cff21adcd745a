import { dividedBy, type Exact, exact, rounded, times, timesAndTimes, total } from "./exact";
import { type Line, type Message, prices } from "./requests";
import { shippedRate } from "./shipped-rates";

export type CostStatus = "client" | "priced" | "converted" | "unpriced" | "included";

/** The share of a message in one line of a breakdown. `counts` is 1 in the line that counts the message. */
export type Share = {
  at: number;
  amount: Exact;
  model: string | null;
  feature: string | null;
  counts: 0 | 1;
  unpriced: 0 | 1;
  /** What it would have cost where a subscription covers it. */
  included: Exact;
};

/** A message's cost by the rules of the design, computed independently of the service. */
export type Cost = {
  amount: Exact;
  status: CostStatus;
  /** Of included usage: what it would have cost; null where there is no price. */
  listPrice?: Exact | null;
  shares: Share[];
};

type Costed = Exclude<Message, { type: "allocation" }>;

/** @param now milliseconds since 1970: when a message without `occurred_at` occurred */
export function costOf(message: Costed, now: number): Cost {
  const at = message.occurred_at === undefined ? now : Date.parse(message.occurred_at);
  switch (message.type) {
    case "usage": {
      const { amount, status } = lineCost(message.provider, message, at);
      if (message.included) {
        const covered = { ...share(message, at, 0n, "included", 1), included: amount };
        const listPrice = status === "unpriced" ? null : amount;
        return { amount: 0n, status: "included", listPrice, shares: [covered] };
      }
      return { amount, status, shares: [share(message, at, amount, status, 1)] };
    }
    case "batch": {
      const lines = message.items.map((item) => ({ item, ...lineCost(message.provider, item, at) }));
      const any = (wanted: CostStatus) => lines.some(({ status }) => status === wanted);
      return {
        amount: total(lines.map(({ amount }) => amount)),
        status: any("unpriced") ? "unpriced" : any("priced") ? "priced" : "client",
        shares: lines.map(({ item, amount, status }, index) =>
          share(item, at, amount, status, index === 0 ? 1 : 0),
        ),
      };
    }
    case "expense": {
      const { amount, status } = converted(message, Math.min(at, now));
      return { amount, status, shares: [share({}, at, amount, status, 1)] };
    }
    case "subscription": {
      const start = message.starts_on === undefined ? at : Date.parse(`${message.starts_on}T00:00:00Z`);
      const { amount, status } = converted(message, Math.min(start, now));
      if (message.interval !== "year")
        return { amount, status, shares: [share({}, start, amount, status, 1)] };
      const part = dividedBy(amount, exact("12"));
      const shares = Array.from({ length: 12 }, (_, month) =>
        share(
          {},
          monthsLater(start, month),
          month === 11 ? amount - 11n * part : part,
          status,
          month === 0 ? 1 : 0,
        ),
      );
      return { amount, status, shares };
    }
  }
}

/** A period of a recurring subscription that has begun: its first day and its cost. */
export type DuePeriod = { startsOn: string; cost: Cost };

type Subscription = Extract<Message, { type: "subscription" }>;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const firstDay = (message: Subscription, now: number) =>
  message.starts_on ?? dayOf(message.occurred_at === undefined ? now : Date.parse(message.occurred_at));

/** The periods after the first that have begun by now and are recorded with the message. */
export function duePeriods(message: Subscription, now: number): DuePeriod[] {
  if (!message.recurring) return [];
  const { occurred_at: _, ...charge } = message;
  const periods: DuePeriod[] = [];
  for (let index = 1; ; index += 1) {
    const months = message.interval === "year" ? 12 * index : index;
    const startsOn = dayOf(monthsLater(Date.parse(firstDay(message, now)), months));
    if (startsOn > dayOf(now) || startsOn > (message.ends_on ?? startsOn)) return periods;
    periods.push({ startsOn, cost: costOf({ ...charge, starts_on: startsOn }, now) });
  }
}

/** Whether a subscription begins too long ago to recur, or ends before it begins. */
export function isMistimed(message: Message, now: number): boolean {
  if (message.type !== "subscription" || !message.recurring) return false;
  const first = firstDay(message, now);
  return first < dayOf(monthsLater(now, -24)) || (message.ends_on ?? first) < first;
}

function share(
  { model = null, feature = null }: { model?: string | null; feature?: string | null },
  at: number,
  amount: Exact,
  status: CostStatus,
  counts: 0 | 1,
): Share {
  return { at, amount, model, feature, counts, unpriced: status === "unpriced" ? 1 : 0, included: 0n };
}

function lineCost(provider: string, line: Line, at: number): { amount: Exact; status: CostStatus } {
  if (line.estimated_cost !== undefined) return { amount: rounded(line.estimated_cost), status: "client" };
  const unit = line.unit_type === "prompt_tokens" ? "input_tokens" : line.unit_type;
  const rate = priceOf(provider, line.model, unit, at);
  if (rate === undefined) return { amount: 0n, status: "unpriced" };
  const quantity = exact(line.quantity);
  if (line.cached_quantity === undefined) return { amount: times(quantity, rate), status: "priced" };
  const cached = exact(line.cached_quantity);
  const cachedRate = priceOf(provider, line.model, "cache_read_tokens", at);
  if (cachedRate === undefined) return { amount: 0n, status: "unpriced" };
  return { amount: timesAndTimes(quantity - cached, rate, cached, cachedRate), status: "priced" };
}

/** The latest price that had begun: one for the model before one for the provider. */
function priceOf(provider: string, model: string | undefined, unit: string, at: number): Exact | undefined {
  for (const wanted of [model?.toLowerCase(), null]) {
    const [latest] = prices
      .filter(
        ([who, what, of, , from]) =>
          who === provider.toLowerCase() && what === wanted && of === unit && Date.parse(from) <= at,
      )
      .sort(([, , , , a], [, , , , b]) => Date.parse(b) - Date.parse(a));
    if (latest) return exact(latest[3]);
  }
  return undefined;
}

/** @param at whose day's rate counts */
function converted(
  message: { amount: string; currency?: string },
  at: number,
): { amount: Exact; status: CostStatus } {
  const { amount, currency = "USD" } = message;
  if (currency === "USD") return { amount: exact(amount), status: "client" };
  return { amount: times(exact(amount), exact(shippedRate(currency, dayOf(at)).rate)), status: "converted" };
}

/** The same time and date some months later, or the month's last day where that date is missing. */
export function monthsLater(at: number, months: number): number {
  const start = new Date(at);
  const later = new Date(at);
  later.setUTCDate(1);
  later.setUTCMonth(start.getUTCMonth() + months);
  const lastDate = new Date(later);
  lastDate.setUTCMonth(later.getUTCMonth() + 1, 0);
  later.setUTCDate(Math.min(start.getUTCDate(), lastDate.getUTCDate()));
  return later.getTime();
}
