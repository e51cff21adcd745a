import { Money } from "@/components/figures/money";
import { Link } from "@/components/ui/link";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Bar, ChartGroup } from "./chart-data";

/** The data of a chart's table: groups, bars, and the name of the comparison. */
export type FiguresProps = {
  label: string;
  groups: ChartGroup[];
  bars: Bar[];
  comparison: string | undefined;
};

/** The figures of a chart as a table. Each bar links to its rows. */
export function Figures({ label, groups, bars, comparison }: FiguresProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard.
    <section tabIndex={0} aria-label={`${label}, figures`} className="mt-2 max-h-96 overflow-auto border-t">
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="pl-0">When</TableHead>
            {groups.map(({ name }) => (
              <TableHead key={name} className="text-right">
                {name}
              </TableHead>
            ))}
            <TableHead className={comparison ? "text-right" : "pr-0 text-right"}>Total</TableHead>
            {comparison ? <TableHead className="pr-0 text-right">{comparison}</TableHead> : null}
          </TableRow>
        </TableHeader>
        <TableBody>
          {bars.map(({ title, href, amounts, total, previous }) => (
            <TableRow key={title}>
              <TableCell className="whitespace-nowrap pl-0">
                <Link href={href} prefetch={false} className="rounded-sm hover:underline">
                  {title}
                </Link>
              </TableCell>
              {groups.map(({ name }, group) => (
                <TableCell key={name} className="text-right">
                  <Money usd={amounts[group] ?? 0} figure="series.points.layers_usd" />
                </TableCell>
              ))}
              <TableCell className={`${comparison ? "" : "pr-0 "}text-right font-medium`}>
                <Money usd={total} figure="series.points.total_usd" />
              </TableCell>
              {comparison ? (
                <TableCell className="pr-0 text-right text-muted-foreground">
                  {previous === null ? null : <Money usd={previous} figure="series.previous.total_usd" />}
                </TableCell>
              ) : null}
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </section>
  );
}
