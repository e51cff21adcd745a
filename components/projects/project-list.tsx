import { Folder } from "lucide-react";
import Link from "next/link";
import { toNumber } from "@/components/amount";
import { projectColour } from "@/components/charts/colours";
import { Sparkline } from "@/components/charts/sparkline";
import { toSparkline } from "@/components/charts/sparkline-shape";
import { Count } from "@/components/count";
import { formatDate } from "@/components/format-date";
import { Money } from "@/components/money";
import { EmptyState } from "@/components/ui/empty-state";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Project } from "@/lib/contract/projects";

type Props = {
  workspace: string;
  projects: Project[];
  /** What each project cost on each day of this month up to today, by its slug; USD as exact text. */
  trends: Record<string, string[]>;
  /** The slugs of all projects, the oldest first. */
  order: string[];
};

/** Projects with their spend of this month. Archived projects are folded away below. */
export function ProjectList({ projects, ...rest }: Props) {
  const inUse = projects.filter(({ archived_at }) => archived_at === null);
  const archived = projects.filter(({ archived_at }) => archived_at !== null);
  if (projects.length === 0) {
    return (
      <EmptyState icon={<Folder />} title="No project yet">
        The first message that names a project creates it.
      </EmptyState>
    );
  }
  return (
    <div className="grid gap-8">
      <ProjectTable projects={inUse} {...rest} />
      {archived.length > 0 ? (
        <details>
          <summary className="w-fit rounded-sm text-muted-foreground text-sm hover:text-foreground">
            {archived.length} archived
          </summary>
          <ProjectTable projects={archived} {...rest} />
        </details>
      ) : null}
    </div>
  );
}

/** The projects, the most expensive first. */
function ProjectTable({ workspace, projects, trends, order }: Props) {
  const sorted = [...projects].sort((a, b) => toNumber(b.month_usd) - toNumber(a.month_usd));
  return (
    <Table className="table-fixed">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Project</TableHead>
          <TableHead className="hidden w-44 md:table-cell">Daily, this month</TableHead>
          <TableHead className="hidden w-28 text-right sm:table-cell">Messages</TableHead>
          <TableHead className="hidden w-36 text-right sm:table-cell">Last occurred</TableHead>
          <TableHead className="w-32 pr-0 text-right">Spent this month</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {sorted.map((project) => (
          <TableRow key={project.slug} className="[&>td]:align-middle">
            <TableCell className="h-13 pl-0">
              <Link
                href={`/${workspace}/projects/${project.slug}`}
                className="flex min-w-0 items-center gap-2.5 rounded-sm font-medium hover:underline"
              >
                <span
                  aria-hidden="true"
                  className="size-2.5 shrink-0 rounded-[3px]"
                  style={{ background: projectColour(project.slug, order) }}
                />
                <span className="truncate">{project.name}</span>
              </Link>
            </TableCell>
            <TableCell className="hidden md:table-cell">
              <Sparkline
                shape={toSparkline((trends[project.slug] ?? []).map(Number))}
                colour={projectColour(project.slug, order)}
              />
            </TableCell>
            <TableCell className="hidden text-right text-muted-foreground sm:table-cell">
              <Count value={project.month_message_count} figure={`${project.slug}.month_message_count`} />
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-right text-muted-foreground sm:table-cell">
              {project.last_activity_on ? formatDate(project.last_activity_on) : "never"}
            </TableCell>
            <TableCell className="pr-0 text-right">
              <Money usd={project.month_usd} figure={`${project.slug}.month_usd`} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
