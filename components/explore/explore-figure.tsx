import { exactText } from "@/components/figures/amount";
import { conversionTitle } from "@/components/figures/format-money";
import { Money } from "@/components/figures/money";
import { Link } from "@/components/ui/link";
import type { SpendMeasure } from "@/lib/contract/spend/spend-query";
import type { ExploreGroup, ExploreSums } from "./data";
import { formatMeasured, isMoney } from "./dimensions";

/** The name of a row or a column of an answer. Below the width of a notebook, a long one takes up to three lines. */
export function GroupName({ group }: { group: ExploreGroup | undefined }) {
  return (
    <bdi
      className="text-left max-lg:line-clamp-3 max-lg:break-words lg:block lg:truncate"
      title={group?.label}
    >
      {group?.label}
    </bdi>
  );
}

/** The classes of a cell with a name, besides its width. */
export const nameCell = "max-lg:whitespace-normal max-lg:[overflow-wrap:anywhere]";

/** The text of a figure on hover: how it was converted, or all its digits. */
export function titleOf(measure: SpendMeasure, measured: ExploreSums["measured"]): string | undefined {
  if (measured === null) return undefined;
  return (isMoney(measure) ? conversionTitle(measured) : undefined) ?? exactText(measured);
}

/** A figure, with a link to its rows if activity can show them. */
export function ExploreFigure({
  href,
  measure,
  measured,
}: {
  href: string | undefined;
  measure: SpendMeasure;
  measured: ExploreSums["measured"];
}) {
  const title = titleOf(measure, measured);
  const isAmount = measured !== null && isMoney(measure);
  // On hover, an amount that is not converted shows only its digits, like figures of other measures.
  const text =
    isAmount && conversionTitle(measured) ? <Money usd={measured} /> : formatMeasured(measure, measured);
  if (!href) return <span title={title}>{text}</span>;
  return (
    <Link href={href} prefetch={false} title={title} className="rounded-sm hover:underline">
      {text}
    </Link>
  );
}
