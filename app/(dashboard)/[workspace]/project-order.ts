import type { Project } from "@/lib/contract/projects";

/** The slugs of a workspace's projects in the order they were made, which gives each its colour. */
export function projectOrderOf(projects: Project[]): string[] {
  return [...projects]
    .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (a.id < b.id ? -1 : 1))
    .map(({ slug }) => slug);
}
