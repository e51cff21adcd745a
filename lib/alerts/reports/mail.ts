import { type MailFooter, type MailSection, mailContent } from "@/lib/alerts/mail/content";
import type { MailContent } from "@/lib/alerts/mail/send-mail";
import { money } from "@/lib/alerts/words/values";
import { type Coverage, coveragePercent, isBelow, leastCoverage } from "@/lib/bills/coverage";
import { compare, divideMoney, isZero, parseDecimal, subtract, toText } from "@/lib/decimal";
import type { Week } from "@/lib/spend/weekly/service";

const days = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long", day: "numeric" });
const months = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long", year: "numeric" });
const dayMs = 86_400_000;

const headings = { project: "Projects", user: "People", key: "API keys", model: "Models" } as const;
const dimensions = ["project", "user", "key", "model"] as const;

/** The open recommendations: how many savings there are, what they would have saved, USD as exact text, and how many disputed prices. */
export type Recommended = { count: number; saving: string; disputed: number };

/** The report of a week as mail. @param coverage of the latest bills; null without one @param base the service's address */
export function reportMail(
  week: Week,
  coverage: Coverage | null,
  recommended: Recommended,
  footer: MailFooter,
  base: string,
): MailContent {
  const { workspace, amount, before, from, time_zone: zone, messages } = week;
  const last = new Date(Date.parse(from) + 6 * dayMs).toISOString().slice(0, 10);
  const span = `${days.format(new Date(from))} to ${days.format(new Date(last))}`;
  const home = `${base}/${workspace.slug}`;
  const isEmpty = messages === 0 && isZero(parseDecimal(amount));
  return mailContent(
    {
      title: isEmpty
        ? `${workspace.name}: nothing was spent from ${span}`
        : `${workspace.name}: ${money(amount)} from ${span}`,
      text: isEmpty
        ? `No live usage or cost was recorded in the week; in the week before, ${money(before)}.`
        : `${money(amount)} was spent in the week, ${wordChange(amount, before)}.`,
      facts: isEmpty
        ? []
        : [
            ["This week", money(amount)],
            ["Week before", money(before)],
            ["Messages", messages.toLocaleString("en-US")],
            ["Time zone", zone],
          ],
      sections: [
        ...(isEmpty ? [] : moverSections(week)),
        ...unpricedSection(week, home),
        ...budgetSection(week, home),
        ...coverageSection(coverage, home),
        ...recommendedSection(recommended, home),
      ],
      links: [
        { text: "Open the overview", url: home },
        ...(isEmpty
          ? []
          : [
              {
                text:
                  zone === workspace.time_zone
                    ? "Show what was spent"
                    : `Show the rows of these days in ${workspace.time_zone}`,
                url: `${home}/activity?${new URLSearchParams({ period: "range", from, to: last, environment: "live" })}`,
              },
            ]),
      ],
    },
    footer,
  );
}

/** Words the change of an amount: "12% more than the week before". */
function wordChange(amount: string, before: string): string {
  const [now, then] = [parseDecimal(amount), parseDecimal(before)];
  const order = compare(now, then);
  if (order === 0) return "the same as in the week before";
  const more = order > 0 ? "more" : "less";
  if (compare(then, parseDecimal("0")) <= 0)
    return `${money(absolute(amount, before))} ${more} than in the week before`;
  const share = Number(toText(divideMoney(parseDecimal(absolute(amount, before)), then))) * 100;
  const percent = share < 1 ? "less than 1" : share >= 1000 ? "over 1,000" : String(Math.round(share));
  return `${percent}% ${more} than in the week before`;
}

/** The size of a change, as exact decimal text. */
function absolute(amount: string, before: string): string {
  return toText(subtract(parseDecimal(amount), parseDecimal(before))).replace(/^-/, "");
}

function moverSections({ movers }: Week): MailSection[] {
  return dimensions.flatMap((dimension) => {
    const moved = movers[dimension];
    if (moved.length === 0) return [];
    const entries = moved.map(({ name, amount, before }) => {
      const isMore = compare(parseDecimal(amount), parseDecimal(before)) > 0;
      return {
        name,
        value: `${isMore ? "+" : "−"}${money(absolute(amount, before))}`,
        note: `${money(amount)} this week, ${money(before)} the week before`,
      };
    });
    return [{ heading: `${headings[dimension]} that changed most`, entries }];
  });
}

function coverageSection(coverage: Coverage | null, home: string): MailSection[] {
  if (!coverage || !isBelow(coverage, leastCoverage)) return [];
  const entries = coverage.providers
    .filter(({ missing }) => !isZero(missing))
    .map(({ provider, ...covered }) => ({
      name: provider,
      url: `${home}/reconciliation?month=${coverage.month}`,
      value: money(toText(covered.missing)),
      note: `${coveragePercent(covered) ?? "0"}% of the ${money(toText(covered.billed))} that was billed in ${months.format(new Date(coverage.month))} is recorded.`,
    }));
  return [{ heading: "Billed, but not recorded", entries }];
}

function recommendedSection({ count, saving, disputed }: Recommended, home: string): MailSection[] {
  const url = `${home}/recommendations`;
  const savings = {
    ...{ name: count === 1 ? "1 recommendation" : `${count} recommendations`, url, value: money(saving) },
    note: "What they would have saved in 30 days, by repricing what was recorded.",
  };
  const disputes = {
    ...{ name: "Disputed prices", url, value: disputed === 1 ? "1 model" : `${disputed} models` },
    note: "Two catalogues list different prices. Choose which one your usage is recorded at.",
  };
  return [
    ...(count > 0 ? [{ heading: "What would save money", entries: [savings] }] : []),
    ...(disputed > 0 ? [{ heading: "Prices to settle", entries: [disputes] }] : []),
  ];
}

function unpricedSection({ unpriced: { count, models } }: Week, home: string): MailSection[] {
  if (count === 0) return [];
  const entry = {
    name: models.length > 0 ? models.join(", ") : "Usage without a model",
    url: `${home}/activity?cost_status=unpriced`,
    value: count === 1 ? "1 line" : `${count.toLocaleString("en-US")} lines`,
    note: "No price is known, so this usage is counted as $0.00.",
  };
  return [{ heading: "Usage without a price", entries: [entry] }];
}

/** A share as the dashboard writes it: "100%" only if all is used, "76×" from ten times on. */
const formatShare = (share: number) => {
  if (share >= 9.995) return `${shares.format(Math.round(share))}×`;
  return `${share < 1 ? Math.min(Math.round(share * 100), 99) : Math.round(share * 100)}%`;
};

const shares = new Intl.NumberFormat("en-US");
const runsOut = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", day: "numeric" });

function budgetSection({ budgets }: Week, home: string): MailSection[] {
  if (budgets.length === 0) return [];
  const entries = budgets.map(({ id, name, spent, amount, used, runs_out_on: day }) => ({
    name,
    url: `${home}/budgets#budget-${id}`,
    value: formatShare(Number(used)),
    note: `${money(spent)} of ${money(amount)}${
      day === null ? "" : `; used up on ${runsOut.format(new Date(day))} at this pace`
    }`,
  }));
  return [{ heading: "Budgets at risk", entries }];
}
