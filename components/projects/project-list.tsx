import { Folder } from "lucide-react";
import Link from "next/link";
import { exactText } from "@/components/amount";
import { projectColour } from "@/components/charts/colours";
import { Sparkline } from "@/components/charts/sparkline";
import { Count } from "@/components/count";
import { Money } from "@/components/money";
import { EmptyState } from "@/components/ui/empty-state";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { Metrics } from "@/lib/contract/metrics";
import type { Project } from "@/lib/contract/projects";

const dayName = new Intl.DateTimeFormat("en-US", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

type Props = {
  workspace: string;
  projects: Project[];
  /** This month's spend by project. */
  series: Metrics["series"];
  /** The slugs of all projects, the oldest first. */
  order: string[];
  /** The current UTC day, `YYYY-MM-DD`. */
  today: string;
};

/** Projects with what they cost this month; the archived ones folded away below. */
export function ProjectList({ projects, ...rest }: Props) {
  const inUse = projects.filter(({ archived_at }) => archived_at === null);
  const archived = projects.filter(({ archived_at }) => archived_at !== null);
  if (projects.length === 0) {
    return (
      <EmptyState icon={<Folder />} title="No project yet">
        A project is made by the first message that names it.
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

/** The dearest first: that is what one looks for. */
function ProjectTable({ workspace, projects, series, order, today }: Props) {
  const dearest = [...projects].sort(
    (a, b) => Number(exactText(b.month_usd)) - Number(exactText(a.month_usd)),
  );
  return (
    <Table className="table-fixed">
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Project</TableHead>
          <TableHead className="hidden w-44 md:table-cell">This month</TableHead>
          <TableHead className="hidden w-28 text-right sm:table-cell">Messages</TableHead>
          <TableHead className="hidden w-36 text-right sm:table-cell">Last activity</TableHead>
          <TableHead className="w-32 pr-0 text-right">Month to date</TableHead>
        </TableRow>
      </TableHeader>
      <TableBody>
        {dearest.map((project) => (
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
                values={trendOf(project.slug, series, today)}
                colour={projectColour(project.slug, order)}
              />
            </TableCell>
            <TableCell className="hidden text-right text-muted-foreground sm:table-cell">
              <Count value={project.month_message_count} figure={`${project.slug}.month_message_count`} />
            </TableCell>
            <TableCell className="hidden whitespace-nowrap text-right text-muted-foreground sm:table-cell">
              {project.last_activity_on ? dayName.format(new Date(project.last_activity_on)) : "never"}
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

/** A project's days of this month up to today; none where it is too small to be listed by itself. */
function trendOf(slug: string, { groups, points }: Metrics["series"], today: string): number[] {
  const place = groups.findIndex(({ value }) => value === slug);
  if (place < 0) return [];
  const passed = points.filter(({ from }) => from <= today);
  return passed.map(({ amounts_usd }) => Number(exactText(amounts_usd[place] ?? 0)));
}
