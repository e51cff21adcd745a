import { type SparklineShape, toSparkline } from "@/components/charts/sparkline-shape";
import { type AmountProp, asProp } from "@/components/figures/amount";
import type { ChangeView } from "@/components/spend/change-column";
import type { Project } from "@/lib/contract/spend/projects";

/** A project with its live spend in the range of the page. */
export type ListedProject = Pick<Project, "slug" | "name" | "archived_at" | "last_activity_on"> & {
  range_usd: Project["month_usd"];
  range_message_count: number;
};

/** A project with its amounts as exact text, so that a server component can pass it to a client component. */
export type ProjectView = Pick<
  ListedProject,
  "slug" | "name" | "range_message_count" | "last_activity_on"
> & {
  /** The address of the project's page with the same range. */
  href: string;
  /** Spent in the range, up to today. */
  rangeUsd: AmountProp;
  /** Its spend over time in the range. */
  trend: SparklineShape;
  colour: string;
  /** How it differs from the days compared with; null if nothing is compared. */
  change: ChangeView | null;
  /** The most used budget for this project, with the fraction of its limit that is spent. */
  budget: { id: string; name: string; used: string } | null;
};

/** @param trend what the project cost in each day or month of the range; USD as exact text */
export function toProjectView(
  { slug, name, range_message_count, last_activity_on, range_usd }: ListedProject,
  { trend, ...shown }: Pick<ProjectView, "href" | "colour" | "change" | "budget"> & { trend: string[] },
): ProjectView {
  return {
    slug,
    name,
    ...shown,
    range_message_count,
    last_activity_on,
    rangeUsd: asProp(range_usd),
    trend: toSparkline(trend.map(Number)),
  };
}
