import type { Project } from "@/lib/contract/spend/projects";

/** The slugs of a workspace's projects, the oldest first. The order decides the colours of the projects. */
export function projectOrderOf(projects: Pick<Project, "id" | "slug" | "created_at">[]): string[] {
  return [...projects]
    .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (a.id < b.id ? -1 : 1))
    .map(({ slug }) => slug);
}
