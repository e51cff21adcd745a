import Link from "next/link";
import { Money } from "@/components/money";
import { Disclosure } from "@/components/ui/disclosure";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Bar, ChartGroup } from "./chart-data";

type Props = { label: string; groups: ChartGroup[]; bars: Bar[] };

/** The figures of a chart as a table, folded away. Each bar links to its rows. */
export function FigureTable(props: Props) {
  return (
    <Disclosure
      summary="Show the figures"
      className="text-sm"
      summaryClassName="w-fit rounded-sm text-muted-foreground text-xs hover:text-foreground"
    >
      {() => <Figures {...props} />}
    </Disclosure>
  );
}

function Figures({ label, groups, bars }: Props) {
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
            <TableHead className="text-right">Total</TableHead>
            <TableHead className="pr-0 text-right">Previous period</TableHead>
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
                  <Money usd={amounts[group] ?? 0} figure="series.points.amounts_usd" />
                </TableCell>
              ))}
              <TableCell className="text-right font-medium">
                <Money usd={total} figure="series.points.total_usd" />
              </TableCell>
              <TableCell className="pr-0 text-right text-muted-foreground">
                {previous === null ? null : <Money usd={previous} figure="series.previous.total_usd" />}
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </section>
  );
}
