import { exactText } from "@/components/amount";
import type { Project } from "@/lib/contract/projects";

/** A project with its amounts as exact text, so that a server component can pass it to a client component. */
export type ProjectView = Pick<Project, "slug" | "name" | "month_message_count" | "last_activity_on"> & {
  /** USD in the current UTC month. */
  monthUsd: string;
  /** What it cost on each day of this month up to today; USD as exact text. */
  trend: string[];
  colour: string;
};

/** @param trends what each project cost on each day, by its slug */
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
    monthUsd: exactText(month_usd),
    trend: trends[slug] ?? [],
    colour,
  };
}
