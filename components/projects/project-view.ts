import { type SparklineShape, toSparkline } from "@/components/charts/sparkline-shape";
import { type AmountProp, asProp } from "@/components/figures/amount";
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
  /** The project's page, of the same range. */
  href: string;
  /** Spent in the range, up to today. */
  rangeUsd: AmountProp;
  /** The course of its spend in the range. */
  trend: SparklineShape;
  colour: string;
};

/** @param trend what the project cost in each day or month of the range; USD as exact text */
export function toProjectView(
  { slug, name, range_message_count, last_activity_on, range_usd }: ListedProject,
  { href, trend, colour }: { href: string; trend: string[]; colour: string },
): ProjectView {
  return {
    slug,
    name,
    href,
    range_message_count,
    last_activity_on,
    rangeUsd: asProp(range_usd),
    trend: toSparkline(trend.map(Number)),
    colour,
  };
}
