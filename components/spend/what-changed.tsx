import { Fragment } from "react";
import { formatGrowth, growthOf } from "@/components/figures/delta";
import { formatList } from "@/components/figures/format-list";
import { formatExactUsd } from "@/components/figures/format-money";
import { isManyTimes } from "@/components/figures/format-percent";
import { formatMoney, formatSignedMoney } from "@/components/figures/money";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import { describeStretch, formatStretch } from "@/components/spend/period-labels";
import { Link } from "@/components/ui/link";
import type { CauseName, Changes, Mover } from "@/lib/contract/spend/changes";

/** The name and the meaning of each cause. */
const causeTexts = {
  volume: { label: "Amount of usage", hint: "More or less usage, at the earlier cost and mix of models" },
  mix: { label: "Mix of models", hint: "A different mix of models, each at its earlier cost" },
  prices: { label: "Cost per use", hint: "The same models at different prices, or with longer calls" },
  new_projects: { label: "New projects", hint: "Projects that spent nothing in the earlier days" },
  gone_projects: { label: "Projects that stopped", hint: "Projects that spent nothing since" },
  subscriptions: { label: "Subscriptions", hint: "In projects that spent in both" },
  expenses: { label: "Expenses", hint: "In projects that spent in both" },
  allocations: { label: "Allocations", hint: "Between projects" },
  adjustments: { label: "Bill adjustments", hint: "What bills say differs from what was recorded" },
} as const satisfies Record<CauseName, { label: string; hint: string }>;

/**
 * What changed against the days compared with: the difference in a sentence, its causes, which sum to it exactly, and the people
 * and keys whose spend changed most.
 */
export function WhatChanged({
  workspace,
  filter,
  changes,
}: {
  workspace: string;
  /** The filter of the explained spend, besides its days. */
  filter: ActivityFilter;
  changes: Changes;
}) {
  const { causes, people, keys } = changes;
  const largest = Math.max(...causes.map(({ amount_usd: usd }) => Math.abs(Number(usd))), 0);
  const days = { ...filter, period: "range", from: changes.from, to: changes.to };
  return (
    <section aria-labelledby="what-changed">
      <h2 id="what-changed" className="font-medium text-sm">
        What changed
      </h2>
      <p className="max-w-[72ch] pt-1 pb-4 text-muted-foreground text-sm">
        <Sentence changes={changes} />
      </p>
      {causes.length === 0 ? null : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-6 md:grid-cols-[repeat(2,minmax(0,1fr))]">
          <table className="w-full self-start text-sm">
            <caption className="sr-only">Causes of the difference</caption>
            <tbody>
              {causes.map((cause) => (
                <tr key={cause.name} className="border-t align-top">
                  {/* Takes the width that the figures leave. */}
                  <th scope="row" className="w-full max-w-0 py-2 pr-3 text-left font-normal">
                    <span title={causeTexts[cause.name].hint}>{causeTexts[cause.name].label}</span>
                    <span className="line-clamp-2 text-muted-foreground text-xs">
                      <Detail workspace={workspace} filter={days} cause={cause} changes={changes} />
                    </span>
                  </th>
                  <td className="py-2 pr-3 max-sm:hidden md:max-lg:hidden" aria-hidden="true">
                    <Bar amount={Number(cause.amount_usd)} largest={largest} />
                  </td>
                  <Figure usd={cause.amount_usd} figure="changes.causes" />
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr className="border-t font-medium">
                <th scope="row" className="py-2 text-left font-medium">
                  Difference
                </th>
                <td className="max-sm:hidden md:max-lg:hidden" />
                <Figure usd={changes.difference_usd} figure="changes.difference" />
              </tr>
            </tfoot>
          </table>
          <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-6">
            <Movers
              title="People"
              movers={people}
              href={(value) => activityHref(workspace, { ...days, user: value })}
            />
            <Movers
              title="Keys"
              movers={keys}
              href={(value) => activityHref(workspace, { ...days, key: value })}
            />
          </div>
        </div>
      )}
    </section>
  );
}

/** The difference and its largest causes, in words. */
function Sentence({ changes }: { changes: Changes }) {
  const { difference_usd: difference, before_usd: before, causes, before: stretch } = changes;
  const days = `${formatStretch(changes)}, against ${describeStretch(stretch, changes.to)}`;
  const change = Number(difference);
  if (change === 0 && causes.length === 0) return `${days}: the same.`;
  const growth = growthOf(change + Number(before), Number(before));
  const size = formatMoney(difference.replace("-", ""));
  const share = growth === null || isManyTimes(growth) ? "" : ` (${formatGrowth(growth)})`;
  const times = growth !== null && isManyTimes(growth) ? `, ${formatGrowth(growth)} as much` : "";
  // Causes with the opposite sign do not explain the difference.
  const reasons = causes
    .filter(({ amount_usd: usd }) => Math.sign(Number(usd)) === Math.sign(change))
    .slice(0, 2)
    .map((cause) => `${causeTexts[cause.name].label.toLowerCase()} (${formatSignedMoney(cause.amount_usd)})`);
  const mostly = reasons.length > 0 ? `, mostly by ${formatList(reasons)}` : "";
  return (
    <>
      {days}:{" "}
      <span className="text-foreground">
        {change === 0 ? "the same in all" : `${size}${share} ${change > 0 ? "more" : "less"}${times}`}
      </span>
      {mostly}.
    </>
  );
}

/** The type of cost of a cause, if it has one. */
const typeOfCause: Partial<Record<CauseName, string>> = {
  subscriptions: "subscription",
  expenses: "expense",
  allocations: "allocation",
  adjustments: "bill_adjustment",
};

/** The parts of a cause, each with a link to its rows. */
function Detail({
  workspace,
  filter,
  cause,
  changes: { volume, before },
}: {
  workspace: string;
  filter: ActivityFilter;
  cause: Changes["causes"][number];
  changes: Changes;
}) {
  const isOfModels = cause.name === "mix" || cause.name === "prices";
  const rowsOf = (value: string | null) =>
    activityHref(workspace, {
      ...filter,
      // A project that is gone has rows only in the earlier days.
      ...(cause.name === "gone_projects" && { from: before.from, to: before.to }),
      type: typeOfCause[cause.name] ?? (isOfModels && value === null ? "usage" : undefined),
      [isOfModels ? "model" : "project"]: value,
    });
  const growth = cause.name === "volume" && volume.before > 0 ? volume.now / volume.before - 1 : 0;
  const usage = isManyTimes(growth)
    ? `${formatGrowth(growth)} the usage`
    : `${formatGrowth(growth)} ${growth > 0 ? "more" : "less"} usage`;
  return (
    <>
      {growth === 0 ? null : `${usage}: `}
      {cause.parts.map(({ name, value, amount_usd: usd }, index) => (
        <Fragment key={value}>
          {index === 0 ? null : ", "}
          <Link
            href={rowsOf(value)}
            prefetch={false}
            className="rounded-sm hover:text-foreground hover:underline"
          >
            <bdi>{name ?? "No model"}</bdi> {formatSignedMoney(usd)}
          </Link>
        </Fragment>
      ))}
    </>
  );
}

/** A bar to the right of the middle for more, to the left for less. */
function Bar({ amount, largest }: { amount: number; largest: number }) {
  const width = largest > 0 ? (Math.abs(amount) / largest) * 50 : 0;
  return (
    <span className="relative mt-1.5 block h-2 w-25 border-input border-x-0 bg-[linear-gradient(var(--input),var(--input))] bg-[length:1px_100%] bg-center bg-no-repeat">
      <span
        className={`absolute inset-y-0 rounded-[2px] ${amount > 0 ? "left-1/2 bg-chart-1" : "right-1/2 bg-chart-5"}`}
        style={{ width: `${width}%` }}
      />
    </span>
  );
}

function Figure({ usd, figure }: { usd: string; figure: string }) {
  return (
    <td
      className="whitespace-nowrap py-2 text-right tabular-nums"
      title={formatExactUsd(usd)}
      data-figure={figure}
      data-exact={usd}
    >
      {formatSignedMoney(usd)}
    </td>
  );
}

function Movers({
  title,
  movers,
  href,
}: {
  title: string;
  movers: Mover[];
  href: (value: string) => string;
}) {
  if (movers.length === 0) return null;
  return (
    <div>
      <h3 className="pb-1 text-muted-foreground text-xs">{title} that moved most</h3>
      <ul>
        {movers.map(({ value, name, now_usd: now, difference_usd: difference }) => (
          <li key={value} className="flex flex-wrap items-baseline justify-end gap-x-3 border-t py-2 text-sm">
            <Link
              href={href(value)}
              prefetch={false}
              dir="auto"
              className="min-w-40 flex-1 truncate rounded-sm text-left hover:underline"
            >
              {name}
            </Link>
            <span
              className="whitespace-nowrap text-muted-foreground tabular-nums"
              title={formatExactUsd(now)}
            >
              {formatMoney(now)}
            </span>
            <span className="whitespace-nowrap tabular-nums" title={formatExactUsd(difference)}>
              {formatSignedMoney(difference)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
