import { exactText } from "@/components/figures/amount";
import { formatDay } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { formatRate } from "@/components/prices/price-view";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import type { Recommendation } from "@/lib/contract/spend/recommendations";
import { DecideRecommendationButtons, ReopenRecommendation } from "./decide-recommendation";

const states = {
  open: undefined,
  accepted: { label: "Accepted", variant: "success" },
  declined: { label: "Declined", variant: "outline" },
  later: { label: "Later", variant: "outline" },
} as const;

/** Recommendations with their amounts, rows and decisions. @param canDecide whether the reader may decide */
export function RecommendationCards({
  workspace,
  recommendations,
  label,
  canDecide,
}: {
  workspace: string;
  recommendations: Recommendation[];
  label: string;
  canDecide: boolean;
}) {
  return (
    <ul aria-label={label} className="grid gap-3">
      {recommendations.map((each) => (
        <Card key={each.id} workspace={workspace} recommendation={each} canDecide={canDecide} />
      ))}
    </ul>
  );
}

function Card({
  workspace,
  recommendation,
  canDecide,
}: {
  workspace: string;
  recommendation: Recommendation;
  canDecide: boolean;
}) {
  const { id, kind, state, title, method, from, to, prices, target } = recommendation;
  const { saving_usd: saving, activity_query: rows } = recommendation;
  const isSettled = kind === "disputed_price" && state === "accepted";
  const path = `/api/v1/workspaces/${workspace}/recommendations/${id}`;
  const badge = states[state];
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-4 rounded-lg border bg-card p-4 text-sm">
      <div className="grid gap-2">
        <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1 sm:flex-nowrap">
          <h3 className="min-w-0 font-medium [overflow-wrap:anywhere]">
            {title} {badge ? <Badge variant={badge.variant}>{badge.label}</Badge> : null}
          </h3>
          <p className="shrink-0 font-medium">
            <Difference less={saving} figure="saving_usd" />{" "}
            <span className="font-normal text-muted-foreground">in 30 days</span>
          </p>
        </div>
        <p className="text-muted-foreground">
          {formatDay(from)} to {formatDay(to)}: recorded <Money usd={recommendation.recorded_usd} />, would
          have been <Money usd={recommendation.repriced_usd} />
          {prices ? ` at the price of ${target}` : null}.{" "}
          {rows === null ? (
            <Link href={`/${workspace}/settings/bills`} className="underline underline-offset-4">
              Show the accounts
            </Link>
          ) : (
            <Link href={`/${workspace}/activity?${rows}`} className="underline underline-offset-4">
              Show the rows
            </Link>
          )}
        </p>
        {prices ? <Prices prices={prices} /> : null}
        <details className="text-muted-foreground">
          <summary className="w-fit rounded-sm">How it is computed</summary>
          <p className="max-w-[80ch] pt-1 [overflow-wrap:anywhere]">{method}</p>
        </details>
        <Decision recommendation={recommendation} />
        {isSettled ? (
          <Link
            href={`/${workspace}/settings/prices`}
            className="w-fit text-muted-foreground underline underline-offset-4"
          >
            Show your own prices
          </Link>
        ) : null}
      </div>
      {canDecide && state === "open" ? (
        <DecideRecommendationButtons
          path={path}
          title={title}
          accept={kind === "disputed_price" ? `Use the price of ${target}` : "Accept"}
        />
      ) : null}
      {canDecide && state !== "open" && !isSettled ? <ReopenRecommendation path={path} /> : null}
    </li>
  );
}

/** How much less it is, or how much more if that is negative. */
function Difference({ less, figure }: { less: Recommendation["saving_usd"]; figure: string }) {
  const exact = exactText(less);
  const isMore = exact.startsWith("-");
  return (
    <>
      <Money usd={isMore ? exact.slice(1) : less} figure={figure} />{" "}
      <span className="font-normal text-muted-foreground">{isMore ? "more" : "less"}</span>
    </>
  );
}

/** Each disputed price of both catalogues. */
function Prices({ prices }: { prices: NonNullable<Recommendation["prices"]> }) {
  return (
    <ul aria-label="Disputed prices" className="grid gap-1">
      {prices.map(({ unit_type: unit, applied, other }) => (
        <li key={unit} className="tabular-nums [overflow-wrap:anywhere]">
          {unit}: {formatRate(exactText(applied.rate), unit)}{" "}
          <span className="text-muted-foreground">({applied.source}, in use)</span>,{" "}
          {formatRate(exactText(other.rate), unit)}{" "}
          <span className="text-muted-foreground">({other.source})</span>
        </li>
      ))}
    </ul>
  );
}

function Decision({ recommendation: { kind, decision, state, saved } }: { recommendation: Recommendation }) {
  if (!decision) return null;
  return (
    <>
      <p className="[overflow-wrap:anywhere]">
        {state === "accepted" ? "Accepted" : state === "declined" ? "Declined" : "Put off"}
        {decision.by ? (
          <>
            {" "}
            by <bdi>{decision.by.name}</bdi>
          </>
        ) : null}
        , <Time at={decision.at} />
        {decision.until ? `, until ${formatDay(decision.until)}` : ""}
        {decision.reason ? `: ${decision.reason}` : "."}
      </p>
      {saved && kind === "disputed_price" ? (
        <p>
          Measured from {formatDay(saved.from)} to {formatDay(saved.to)}: recorded{" "}
          <Money usd={saved.recorded_usd} />, which is{" "}
          <span className="font-medium">
            <Difference less={saved.amount_usd} figure="saved_usd" />
          </span>{" "}
          than the <Money usd={saved.before_usd} /> at list prices.
        </p>
      ) : saved ? (
        <p>
          Measured from {formatDay(saved.from)} to {formatDay(saved.to)}:{" "}
          <span className="font-medium">
            <Money usd={saved.amount_usd} figure="saved_usd" /> saved
          </span>
          . Recorded since the change <Money usd={saved.recorded_usd} />, which would have been{" "}
          <Money usd={saved.before_usd} /> before it. Usage that was already in that tier or with that model
          counts, too.
        </p>
      ) : state === "accepted" ? (
        <p className="text-muted-foreground">
          Nothing was recorded after the change yet. What it {kind === "disputed_price" ? "changes" : "saves"}{" "}
          is measured each week.
        </p>
      ) : null}
    </>
  );
}
