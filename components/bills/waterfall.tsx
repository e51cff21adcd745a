import { exactText } from "@/components/figures/amount";
import { subtractExact } from "@/components/figures/exact";
import { formatExactUsd, formatUsd } from "@/components/figures/format-money";
import { cn } from "@/components/ui/cn";
import { Table, TableBody, TableCell, TableRow } from "@/components/ui/table";
import { differenceParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import { decimalsThatAddUp } from "./decimals-that-add-up";
import { Difference } from "./months";

type Props = {
  sums: Pick<ReconciledDetail, "billed_usd" | "recorded_usd" | "adjusted_usd">;
  parts: ReconciledDetail["parts"];
};

/** The way from recorded to billed costs: each part of the difference, with a bar. */
export function Waterfall({ sums, parts }: Props) {
  const adjusted = exactText(sums.adjusted_usd);
  const amounts = [adjusted, ...parts.map(({ amount_usd: usd }) => exactText(usd))];
  const most = Math.max(...amounts.map((usd) => Math.abs(Number(usd))));
  const isAdjusted = Number(adjusted) !== 0;
  const recorded = subtractExact(exactText(sums.recorded_usd), adjusted);
  const decimals = decimalsThatAddUp(exactText(sums.billed_usd), [recorded, ...amounts]);
  return (
    <Table aria-label="Parts of the difference">
      <TableBody>
        <Total
          label={isAdjusted ? "Recorded without adjustments" : "Recorded"}
          usd={recorded}
          decimals={decimals}
        />
        {isAdjusted ? (
          <Step
            label="Booked as adjustments"
            about="What was booked of the difference, as costs of their own type."
            usd={sums.adjusted_usd}
            figure="adjusted_usd"
            share={Number(adjusted) / most}
            decimals={decimals}
          />
        ) : null}
        {parts.map(({ part, amount_usd: usd }) => (
          <Step
            key={part}
            label={differenceParts[part].label}
            about={meaningOf(part)}
            usd={usd}
            figure={part}
            share={Number(exactText(usd)) / most}
            decimals={decimals}
            isOpen={part === "unexplained"}
          />
        ))}
        <Total label="Billed" usd={exactText(sums.billed_usd)} decimals={decimals} />
      </TableBody>
    </Table>
  );
}

/** The meaning of a part as a sentence. */
function meaningOf(part: keyof typeof differenceParts): string {
  const { meaning } = differenceParts[part];
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
}

/** A step from recorded to billed costs. @param props.share its size relative to the largest step, from -1 to 1 */
function Step({
  label,
  about,
  usd,
  figure,
  share,
  decimals,
  isOpen = false,
}: {
  label: string;
  about: string;
  usd: ReconciledDetail["billed_usd"];
  figure: string;
  share: number;
  decimals: number;
  isOpen?: boolean;
}) {
  return (
    <TableRow>
      <TableCell className="w-full md:w-1/2">
        <span className="font-medium">{label}</span>
        <span className="block max-w-[56ch] text-muted-foreground text-xs">{about}</span>
      </TableCell>
      <TableCell className="hidden w-1/2 align-middle md:table-cell">
        <Bar share={share} isOpen={isOpen} />
      </TableCell>
      <TableCell className="text-right">
        <Difference usd={usd} figure={figure} decimals={decimals} />
      </TableCell>
    </TableRow>
  );
}

function Total({ label, usd, decimals }: { label: string; usd: string; decimals: number }) {
  return (
    <TableRow className="font-medium">
      <TableCell>{label}</TableCell>
      <TableCell className="hidden md:table-cell" />
      <TableCell className="whitespace-nowrap text-right tabular-nums" title={formatExactUsd(usd)}>
        {formatUsd(usd, decimals)}
      </TableCell>
    </TableRow>
  );
}

/** A bar to the right of the middle for an addition, to the left for a deduction. @param props.share from -1 to 1 */
function Bar({ share, isOpen }: { share: number; isOpen: boolean }) {
  const width = `${Math.max(Math.abs(share) * 50, 0.5)}%`;
  return (
    <div aria-hidden="true" className="relative h-2.5">
      <span className="absolute inset-y-[-4px] left-1/2 w-px bg-border" />
      <span
        className={cn("absolute inset-y-0 rounded-sm", isOpen ? "bg-warning" : "bg-primary")}
        style={share < 0 ? { right: "50%", width } : { left: "50%", width }}
      />
    </div>
  );
}
