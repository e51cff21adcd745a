import { formatNumber } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { SourceView } from "./source-view";

/** What a source has sent, by emitter: counts, and the last record. */
export function Arrivals({ source, workspace }: { source: SourceView; workspace: string }) {
  const environment = source.environment === "test" ? "test" : undefined;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Table aria-label="What came in">
        <TableHeader>
          <TableRow>
            <TableHead>Program</TableHead>
            <TableHead className="text-right max-sm:px-1.5">Recorded</TableHead>
            <TableHead className="hidden text-right md:table-cell">Duplicates</TableHead>
            <TableHead className="text-right max-sm:px-1.5">Refused</TableHead>
            <TableHead className="hidden sm:table-cell">Last record</TableHead>
            <TableHead className="text-right">Last received</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {source.arrivals.map(({ emitter, recorded, repeated, refused, last_at: at, latest }) => (
            <TableRow key={emitter}>
              <TableCell className="whitespace-nowrap font-medium max-sm:pr-1">{emitter}</TableCell>
              <TableCell className="text-right tabular-nums max-sm:px-1.5">
                {formatNumber(recorded)}
              </TableCell>
              <TableCell className="hidden text-right text-muted-foreground tabular-nums md:table-cell">
                {formatNumber(repeated)}
              </TableCell>
              <TableCell className="text-right tabular-nums max-sm:px-1.5">{formatNumber(refused)}</TableCell>
              <TableCell className="hidden sm:table-cell">
                {latest ? (
                  <span className="grid">
                    <span className="[overflow-wrap:anywhere]">{latest.model ?? latest.provider}</span>
                    <span className="text-muted-foreground text-xs">
                      {latest.cost_status === "unpriced" ? (
                        "no price known"
                      ) : (
                        <Money usd={latest.amount_usd} />
                      )}
                      {latest.cost_status === "included" ? ", included" : null}
                    </span>
                  </span>
                ) : (
                  <span className="text-muted-foreground">none</span>
                )}
              </TableCell>
              <TableCell className="whitespace-nowrap text-right max-sm:pl-1.5">
                <Time at={at} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
      <Link
        href={activityHref(workspace, { key: source.id, period: "all", environment })}
        className="w-fit rounded-sm text-sm underline underline-offset-4"
      >
        Show the records
      </Link>
    </div>
  );
}
