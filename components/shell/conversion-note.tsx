import { formatDate } from "@/components/figures/format-date";
import type { DisplayCurrency } from "@/components/reader/reader";
import { Link } from "@/components/ui/link";

/** Says below a page how its amounts were converted, and where the reader can change it. @param props.settings its address */
export function ConversionNote({ display, settings }: { display: DisplayCurrency; settings: string }) {
  const { currency, besideUsd, rateDate, source, isOld } = display;
  return (
    <p className="mt-12 border-t pt-3 text-muted-foreground text-xs" data-testid="conversion-note">
      {besideUsd ? `Amounts in ${currency}` : "Amounts"} marked with ≈ are converted from USD, in which every
      cost is recorded: sums at each day&apos;s rate, other amounts at the latest one. The latest rate is of{" "}
      {formatDate(rateDate)} ({source}) and holds for the days after it.{" "}
      {isOld ? (
        <strong className="font-medium text-foreground">
          It is more than a week old: no newer rate of {currency} is known.{" "}
        </strong>
      ) : null}
      <Link href={settings} prefetch={false} className="underline underline-offset-2">
        Change the currency
      </Link>
    </p>
  );
}
