"use client";

import { useApi } from "@/components/requests/use-api";
import type { Project, projectList } from "@/lib/contract/spend/projects";

/** A workspace's projects that are not archived; empty while they are loading and when they cannot be read. */
export function useProjectList(workspace: string): Project[] {
  const { answer } = useApi<typeof projectList>(`/api/v1/workspaces/${workspace}/projects`);
  return answer?.projects.filter(({ archived_at: archivedAt }) => archivedAt === null) ?? [];
}

/** A project as an option of a combobox, by slug or by id; the slug is a hint when the name differs from it. */
export function toProjectOption(
  { id, slug, name }: Pick<Project, "id" | "slug" | "name">,
  by: "slug" | "id",
) {
  return { value: by === "slug" ? slug : id, label: name, ...(name !== slug && { hint: slug }) };
}
