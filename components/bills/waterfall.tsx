import { exactText } from "@/components/figures/amount";
import { Money } from "@/components/figures/money";
import { cn } from "@/components/ui/cn";
import { Table, TableBody, TableCell, TableRow } from "@/components/ui/table";
import { differenceParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import { Difference } from "./months";

type Props = {
  sums: Pick<ReconciledDetail, "billed_usd" | "recorded_usd">;
  parts: ReconciledDetail["parts"];
};

/** How one comes from what was recorded to what was billed: each part of the difference, with a bar beside it. */
export function Waterfall({ sums, parts }: Props) {
  const most = Math.max(...parts.map(({ amount_usd: usd }) => Math.abs(Number(exactText(usd)))));
  return (
    <Table aria-label="Parts of the difference">
      <TableBody>
        <Total label="Recorded" usd={sums.recorded_usd} />
        {parts.map(({ part, amount_usd: usd }) => (
          <TableRow key={part}>
            <TableCell className="w-full md:w-1/2">
              <span className="font-medium">{differenceParts[part].label}</span>
              <span className="block max-w-[56ch] text-muted-foreground text-xs">{meaningOf(part)}</span>
            </TableCell>
            <TableCell className="hidden w-1/2 align-middle md:table-cell">
              <Bar share={Number(exactText(usd)) / most} isOpen={part === "unexplained"} />
            </TableCell>
            <TableCell className="text-right">
              <Difference usd={usd} figure={part} />
            </TableCell>
          </TableRow>
        ))}
        <Total label="Billed" usd={sums.billed_usd} />
      </TableBody>
    </Table>
  );
}

/** The meaning of a part as a sentence. */
function meaningOf(part: keyof typeof differenceParts): string {
  const { meaning } = differenceParts[part];
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
}

function Total({ label, usd }: { label: string; usd: ReconciledDetail["billed_usd"] }) {
  return (
    <TableRow className="bg-muted/50 font-medium">
      <TableCell>{label}</TableCell>
      <TableCell className="hidden md:table-cell" />
      <TableCell className="whitespace-nowrap text-right">
        <Money usd={usd} inUsd />
      </TableCell>
    </TableRow>
  );
}

/** A bar to the right of the middle for what is added, to the left for what is taken away. @param props.share from -1 to 1 */
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
