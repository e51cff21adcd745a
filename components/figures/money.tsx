import { currentReader } from "#reader";
import { cn } from "@/components/ui/cn";
import { type Amount, exactText } from "./amount";
import {
  conversionTitle,
  formatConverted,
  formatExactUsd,
  formatUsd,
  inReaderCurrency,
} from "./format-money";

export {
  formatAmount,
  formatChartAmount,
  formatMoney,
  formatSignedMoney,
  formatSignedUsd,
  formatTick,
  formatUsd,
  shownNumber,
} from "./format-money";

type Props = {
  usd: Amount;
  /** Name of the figure in the API, for tests that compare what is shown with the API's answer. */
  figure?: string;
  className?: string;
};

/**
 * An amount, with the exact figure on hover: in USD, in the reader's currency, or in both. A converted amount is marked.
 * @param props.inUsd whether to show it in USD to every reader, such as a price or a limit that was set in USD
 */
export function Money({ usd, figure, className, inUsd = false }: Props & { inUsd?: boolean }) {
  const { display } = currentReader();
  const converted = inUsd ? undefined : inReaderCurrency(usd);
  const exact = exactText(usd);
  const facts = figure && { "data-figure": figure, "data-exact": exact };
  if (!display || converted === undefined) {
    return (
      <span className={cn("tabular-nums", className)} title={formatExactUsd(exact)} {...facts}>
        {formatUsd(usd)}
      </span>
    );
  }
  const text = formatConverted(converted, display.currency);
  return (
    <span
      className={cn("tabular-nums", className)}
      title={conversionTitle(usd)}
      {...facts}
      data-converted={converted}
    >
      {display.besideUsd ? (
        <>
          {formatUsd(usd)}{" "}
          <span className="whitespace-nowrap font-normal text-[0.85em] opacity-75">{text}</span>
        </>
      ) : (
        text
      )}
    </span>
  );
}
