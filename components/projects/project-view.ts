import { type AmountProp, asProp } from "@/components/amount";
import { type SparklineShape, toSparkline } from "@/components/charts/sparkline-shape";
import type { Project } from "@/lib/contract/projects";

/** A project with its amounts as exact text, so that a server component can pass it to a client component. */
export type ProjectView = Pick<Project, "slug" | "name" | "month_message_count" | "last_activity_on"> & {
  /** Spent in the current UTC month. */
  monthUsd: AmountProp;
  /** What it cost on each day of this month up to today. */
  trend: SparklineShape;
  colour: string;
};

/** @param trends what each project cost on each day, by its slug; USD as exact text */
export function toProjectView(
  { slug, name, month_message_count, last_activity_on, month_usd }: Project,
  trends: Record<string, string[]>,
  colour: string,
): ProjectView {
  return {
    slug,
    name,
    month_message_count,
    last_activity_on,
    monthUsd: asProp(month_usd),
    trend: toSparkline((trends[slug] ?? []).map(Number)),
    colour,
  };
}
