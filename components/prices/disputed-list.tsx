import { exactText } from "@/components/figures/amount";
import { formatDay } from "@/components/figures/format-date";
import { type Disputed, formatRate, type Offer, startOfMonth } from "./price-view";
import { UsePrice } from "./use-price";

/** Prices that differ between two catalogues, each with both offers. Admins choose one with a click. */
export function DisputedList({
  disputed,
  workspace,
  canSet,
  today,
}: {
  disputed: Disputed[];
  workspace: string;
  canSet: boolean;
  /** The current UTC day, `YYYY-MM-DD`. */
  today: string;
}) {
  return (
    <ul className="grid text-sm" aria-label="Disputed prices">
      {disputed.map((each) => {
        const { provider, model, unit_type: unit, last_used_on: lastDay, applied, other } = each;
        const offers = [
          { offer: applied, figure: "applied.rate", isInUse: true },
          { offer: other, figure: "other.rate", isInUse: false },
        ];
        return (
          <li
            key={`${provider}/${model}/${unit}`}
            className="grid gap-x-6 gap-y-2.5 border-t py-3 lg:grid-cols-2"
          >
            <span className="min-w-0">
              <span className="font-medium [overflow-wrap:anywhere]">{model}</span>
              <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere]">
                {provider}, {unit}, last used {formatDay(lastDay)}
              </span>
            </span>
            <ul className="grid gap-2.5">
              {offers.map(({ offer, figure, isInUse }) => (
                <li key={offer.source} className="flex items-center justify-between gap-x-4">
                  <OfferText
                    offer={offer}
                    figure={figure}
                    unit={unit}
                    note={isInUse ? "in use" : undefined}
                  />
                  {canSet && !isInUse ? (
                    <UsePrice
                      workspace={workspace}
                      price={{
                        provider,
                        model,
                        unitType: unit,
                        rate: exactText(offer.rate),
                        startsOn: startOfMonth(today),
                      }}
                      label={`Use ${formatRate(exactText(offer.rate), unit)} for ${model}, ${unit}`}
                    />
                  ) : null}
                </li>
              ))}
            </ul>
          </li>
        );
      })}
    </ul>
  );
}

/** A price with the catalogue that lists it. */
function OfferText({
  offer,
  figure,
  unit,
  note,
}: {
  offer: Offer;
  /** The name of the figure in the API's answer. */
  figure: string;
  unit: string;
  note: string | undefined;
}) {
  const rate = exactText(offer.rate);
  return (
    <span className="min-w-0">
      <span className="tabular-nums" title={`$${rate} per unit`} data-figure={figure} data-exact={rate}>
        {formatRate(rate, unit)}
      </span>
      <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere]">
        {offer.source}
        {note ? `, ${note}` : null}
      </span>
    </span>
  );
}
