import { differenceParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledDetail, Reconciliation } from "@/lib/contract/bills/reconciliation";
import { usd } from "./wording";

/** The most periods and models, and the most people, that a text names. */
const maxNamed = 10;

type Parts = ReconciledDetail["parts"];

const describeParts = (parts: Parts) =>
  parts.map(({ part, amount_usd: amount }) => `${usd(amount)} ${part} (${differenceParts[part].meaning})`);

const covered = ({ coverage_percent: percent }: Pick<ReconciledDetail, "coverage_percent">) =>
  percent === null ? "" : `, ${percent}% of what was billed is recorded`;

/** A comparison of bills with records as text. @param month the requested month */
export function describeReconciliation(
  { months, detail }: Reconciliation,
  month: string | undefined,
): string {
  if (months.length === 0) return "There is no bill, as far as this key may see.";
  if (!detail) {
    return [
      month === undefined
        ? "Billed and recorded, by month:"
        : `There is no bill of ${month}. Months with one:`,
      ...months.map(
        ({ month: name, billed_usd: billed, recorded_usd: recorded, ...row }) =>
          `- ${name}: billed ${usd(billed)}, recorded ${usd(recorded)}, difference ${usd(row.difference_usd)}${covered(row)}`,
      ),
    ].join("\n");
  }
  const { billed_usd: billed, recorded_usd: recorded, difference_usd: difference } = detail;
  const named = detail.cells.filter(({ parts }) => parts.length > 0).slice(0, maxNamed);
  const people = detail.users.slice(0, maxNamed);
  return [
    `${detail.month}: billed ${usd(billed)}, recorded ${usd(recorded)} (of it ${usd(detail.adjusted_usd)} booked as adjustments to bills), difference ${usd(difference)}${covered(detail)}.`,
    ...describeParts(detail.parts).map((part) => `- ${part}`),
    ...detail.unseen_keys.map(
      ({ provider, key, amount_usd: amount }) =>
        `- The ${provider} key ${key} spent ${usd(amount)}, and no source reports it.`,
    ),
    ...detail.learned_prices.map(
      ({ provider, model, unit_type: unit, rate, from, now_usd: now, then_usd: after }) =>
        `- ${provider} bills ${model} ${unit} at ${usd(rate)} a unit since ${from}: what is recorded at ${usd(now)} would cost ${usd(after)}.`,
    ),
    ...(people.length > 0 ? ["By person, where the bill names people:"] : []),
    ...people.map(
      ({ provider, kind, user, user_count: count, ...sums }) =>
        `- ${provider}, ${kind === "user" ? user : kind === "none" ? "nobody named" : `${count} others`}: billed ${usd(sums.billed_usd)}, recorded ${usd(sums.recorded_usd)}, difference ${usd(sums.difference_usd)}`,
    ),
    ...(named.length > 0 ? ["The largest differences:"] : []),
    ...named.map(
      ({ provider, from, to, model, difference_usd: usdHere, parts }) =>
        `- ${provider} ${model ?? "without a model"}, ${from === to ? from : `${from} to ${to}`}: ${usd(usdHere)} (${parts.map(({ part, amount_usd: amount }) => `${part} ${usd(amount)}`).join(", ")})`,
    ),
  ].join("\n");
}
