import type { z } from "zod";
import { exactText, toNumber } from "@/components/figures/amount";
import { readerZone } from "@/components/reader/by-reader";
import type { budget } from "@/lib/contract/spend/budgets";

type Budget = z.output<typeof budget>;

/** The editable fields of a budget. Amounts are exact text in its currency, `percents` in per cent, `amounts` in USD. */
export type EditableBudget = {
  id: string;
  name: string;
  period: Budget["period"];
  /** The scope and the periods in the form of a request. They cannot be changed. */
  fixed: Fixed;
  amount: string;
  raise: { amount: string; until: string } | null;
  percents: string[];
  amounts: string[];
  blocks: boolean;
  currency: string;
  warns: Warned;
  owner: { id: string; name: string; percent: string } | null;
};

type Fixed = Pick<Budget, "period" | "week_starts_on" | "time_zone" | "currency"> & {
  scope_type: Budget["scope"]["type"];
  scope_value: string | null;
  starts_on?: string;
  ends_on?: string;
};

/** The people and channels that a budget warns. */
export type Warned = Budget["warns"];

/** Id of the element that gets the focus when a budget leaves the page. */
export const budgetsSentenceId = "budgets-sentence";

/** Maps a budget of an answer to its editable fields. */
export function toEditableBudget(budget: Budget): EditableBudget {
  const {
    id,
    name,
    period,
    usual_amount: usual,
    raise,
    alert_at: alertAt,
    blocks,
    currency,
    warns,
    owner,
  } = budget;
  const { scope, week_starts_on, time_zone, starts_on: from, ends_on: last } = budget;
  return {
    id,
    name,
    period,
    fixed: {
      scope_type: scope.type,
      scope_value: scope.value,
      period,
      week_starts_on,
      time_zone,
      currency,
      ...(from && { starts_on: from }),
      ...(last && { ends_on: last }),
    },
    amount: exactText(usual),
    raise: raise && { amount: exactText(raise.amount), until: raise.until },
    percents: alertAt.percent.map(exactText),
    amounts: alertAt.usd.map(exactText),
    blocks,
    currency,
    warns,
    owner: owner && { id: owner.id, name: owner.name, percent: exactText(owner.may_raise_percent) },
  };
}

/** Sorts budgets by the part of the limit that is used, the highest first. */
export function sortByUse(budgets: Budget[]): Budget[] {
  const used = ({ percent_used }: Budget) => toNumber(percent_used);
  return [...budgets].sort((a, b) => used(b) - used(a));
}

const kinds = {
  project: "Project",
  feature: "Feature",
  provider: "Provider",
  model: "Model",
  key: "Key",
  user: "Person",
  tag: "Tag",
} as const;

/** A budget's scope as text: "All spend", "Project checkout". */
export function formatScope({ type, label }: Budget["scope"]): string {
  return type === "global" ? "All spend" : `${kinds[type]} ${label}`;
}

const units = {
  day: "a day",
  week: "a week",
  month: "a month",
  quarter: "a quarter",
  year: "a year",
  once: "once",
};

const conjunction = new Intl.ListFormat("en");

/** The people and channels that a budget warns, as text: "Warns Ada and Finance"; undefined if it names none. */
export function formatWarned({ people, channels }: Warned): string | undefined {
  const names = [
    ...people.map(({ name }) => name),
    ...channels.map(({ name, is_off: isOff }) => (isOff ? `${name} (turned off)` : name)),
  ];
  return names.length === 0 ? undefined : `Warns ${conjunction.format(names)}`;
}

/** How often a budget resets, as text: "a month", "a week, Europe/Berlin". */
export function formatPeriod({ period, time_zone: zone }: Pick<Budget, "period" | "time_zone">): string {
  return zone === readerZone() ? units[period] : `${units[period]}, ${zone}`;
}

/** The question for the limit of a budget of each period. */
export const amountLabels = {
  day: "How much per day?",
  week: "How much per week?",
  month: "How much per month?",
  quarter: "How much per quarter?",
  year: "How much per year?",
  once: "How much in total?",
} as const;

/** The present period in a sentence: "this month". */
export const presentPeriod = {
  day: "today",
  week: "this week",
  month: "this month",
  quarter: "this quarter",
  year: "this year",
  once: "in its period",
} as const;

/** A period as a noun: "the month". */
export const periodNames = {
  day: "day",
  week: "week",
  month: "month",
  quarter: "quarter",
  year: "year",
  once: "period",
} as const;
