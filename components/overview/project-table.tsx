import { Money } from "@/components/money";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { formatPercent } from "./headline";

/** What a project spent this month. `share` is its part of the whole, a fraction. */
export type ProjectSpend = {
  slug: string;
  name: string;
  total: string;
  messages: number;
  share: string | null;
};

const counts = new Intl.NumberFormat("en-US");

/** Spend by project, the dearest first. On a phone, the name and the amount. */
export function ProjectTable({ projects }: { projects: ProjectSpend[] }) {
  return (
    <Table>
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Project</TableHead>
          <TableHead className="hidden text-right sm:table-cell">Messages</TableHead>
          <TableHead className="hidden w-[34%] sm:table-cell">Share</TableHead>
          <TableHead className="pr-0 text-right">Spent</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {projects.map(({ slug, name, total, messages, share }) => (
          <TableRow key={slug}>
            <TableCell className="max-w-0 truncate pl-0 sm:max-w-none">{name}</TableCell>
            <TableCell className="hidden text-right text-muted-foreground tabular-nums sm:table-cell">
              {counts.format(messages)}
            </TableCell>
            <TableCell className="hidden sm:table-cell">
              {share === null ? null : <Share of={share} />}
            </TableCell>
            <TableCell className="pr-0 text-right">
              <Money usd={total} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

function Share({ of }: { of: string }) {
  const percent = Math.min(Math.max(Number(of) * 100, 0), 100);
  return (
    <span className="flex items-center gap-3">
      <span className="h-1.5 flex-1 overflow-hidden rounded-full bg-muted" aria-hidden="true">
        <span className="block h-full rounded-full bg-primary/70" style={{ width: `${percent}%` }} />
      </span>
      <span className="w-10 text-right text-muted-foreground text-xs tabular-nums">{formatPercent(of)}</span>
    </span>
  );
}
