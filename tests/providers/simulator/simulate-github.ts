import { parseDecimal, subtract, toText } from "@/lib/decimal";
import { type Answer, type Asked, number, type TrueLine } from "./organization";

/** Searches stand for seats, batches for premium requests, everything else for AI credits. */
const skuOf = ({ unit, tier }: TrueLine) =>
  unit === "web_searches" ? "Copilot Business" : tier ? "Copilot Premium Request" : "Copilot AI Credits";
const units: Record<string, string> = {
  "Copilot Business": "user-months",
  "Copilot Premium Request": "requests",
  "Copilot AI Credits": "ai-credits",
};

function moneyOf(line: TrueLine) {
  const gross = line.list ?? line.usd;
  const discount = toText(subtract(parseDecimal(gross), parseDecimal(line.usd)));
  const [grossAmount, discountAmount, netAmount] = [gross, discount, line.usd].map(number);
  const sku = skuOf(line);
  return {
    product: "Copilot",
    sku,
    unitType: units[sku],
    pricePerUnit: sku === "Copilot Business" ? 19 : 0.04,
    grossAmount,
    discountAmount,
    netAmount,
  };
}

/** The lines of the year, month or day that is asked for. */
function linesOf({ organization, url }: Asked): TrueLine[] {
  const wanted = ["year", "month", "day"]
    .map((name) => url.searchParams.get(name)?.padStart(2, "0"))
    .filter((part) => part !== undefined);
  return organization.bill.filter(({ day }) => day.startsWith(wanted.join("-")));
}

const timeOf = ({ searchParams }: URL) =>
  Object.fromEntries(
    ["year", "month", "day"].flatMap((name) =>
      searchParams.has(name) ? [[name, Number(searchParams.get(name))]] : [],
    ),
  );

/** A report by model, of one SKU. Older organizations have no AI credits. */
const byModel =
  (sku: string) =>
  (asked: Asked): Answer => {
    const { organization, url } = asked;
    if (organization.isOld && sku === "Copilot AI Credits")
      return { status: 404, body: { message: "Not Found" } };
    const items = linesOf(asked).filter((line) => skuOf(line) === sku);
    return {
      status: 200,
      body: {
        timePeriod: timeOf(url),
        organization: url.pathname.split("/")[2],
        usageItems: items.map((line) => ({
          ...moneyOf(line),
          model: line.model,
          ...{ grossQuantity: line.quantity, discountQuantity: 0, netQuantity: line.quantity },
        })),
      },
    };
  };

/** Everything, also what the reports by model have, and what is not AI. */
function byDay(asked: Asked): Answer {
  const items = linesOf(asked).flatMap((line) => {
    const place = { date: `${line.day}T00:00:00Z`, quantity: line.quantity, organizationName: "acme" };
    return [
      { ...moneyOf(line), ...place, repositoryName: "acme/app" },
      { ...moneyOf(line), ...place, product: "Actions", sku: "Actions Linux", unitType: "minutes" },
    ];
  });
  return { status: 200, body: { usageItems: items } };
}

const reports: Record<string, (asked: Asked) => Answer> = {
  "ai_credit/usage": byModel("Copilot AI Credits"),
  "premium_request/usage": byModel("Copilot Premium Request"),
  usage: byDay,
};

/** Each seat was given a year before the last use, or long ago. */
function seats({ organization, url }: Asked): Answer {
  const size = Number(url.searchParams.get("per_page") ?? 50);
  const start = (Number(url.searchParams.get("page") ?? 1) - 1) * size;
  const listed = organization.seats.map(({ email, lastUsed }, id) => ({
    assignee: { login: email.split("@")[0], id },
    ...{ plan_type: "business", created_at: "2025-01-01T00:00:00Z", pending_cancellation_date: null },
    last_activity_at: lastUsed && `${lastUsed}T10:00:00Z`,
  }));
  return { status: 200, body: { total_seats: listed.length, seats: listed.slice(start, start + size) } };
}

/** GitHub's billing reports of an organization, as its own SDK reads them. */
export function githubEndpoint(path: string): ((asked: Asked) => Answer) | undefined {
  if (/^\/orgs\/[^/]+\/copilot\/billing\/seats$/.test(path)) return seats;
  const [, report] = /^\/organizations\/[^/]+\/settings\/billing\/(.+)$/.exec(path) ?? [];
  return report === undefined ? undefined : reports[report];
}
