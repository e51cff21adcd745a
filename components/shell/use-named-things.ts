"use client";

import type { z } from "zod";
import { activityHref } from "@/components/filters/href";
import { useApi } from "@/components/use-api";
import type { apiKeyList } from "@/lib/contract/api-keys";
import type { metrics } from "@/lib/contract/metrics";
import type { projectList } from "@/lib/contract/projects";
import type { organization } from "@/lib/contract/workspaces";

/** Something of a workspace that has a name, and the page that is about it. Names need not be unique; ids are, by kind. */
export type NamedThing = {
  kind: "Project" | "Key" | "Member" | "Feature" | "Person";
  name: string;
  id: string;
  href: string;
};

/**
 * What has a name in a workspace. Each kind is missing while it is loading and when it cannot be read.
 * @returns `isLoading` while any kind is missing; `problem` says why the first one that could not be read was not
 */
export function useNamedThings(workspace: string): {
  things: NamedThing[];
  isLoading: boolean;
  problem: string | undefined;
} {
  const path = `/api/v1/workspaces/${workspace}`;
  const reads = {
    projects: useApi<typeof projectList>(`${path}/projects`),
    keys: useApi<typeof apiKeyList>(`${path}/api-keys`),
    people: useApi<typeof organization>(`${path}/org`),
    spend: useApi<typeof metrics>(`${path}/metrics?period=year`),
  };
  const all = Object.values(reads);
  return {
    things: nameThings(workspace, {
      projects: reads.projects.answer,
      keys: reads.keys.answer,
      people: reads.people.answer,
      spend: reads.spend.answer,
    }),
    isLoading: all.some(({ answer, problem }) => !answer && !problem),
    problem: all.find(({ problem }) => problem)?.problem?.message,
  };
}

function nameThings(
  workspace: string,
  {
    projects,
    keys,
    people,
    spend,
  }: {
    projects: z.output<typeof projectList> | undefined;
    keys: z.output<typeof apiKeyList> | undefined;
    people: z.output<typeof organization> | undefined;
    spend: z.output<typeof metrics> | undefined;
  },
): NamedThing[] {
  const named = (
    kind: "Feature" | "Person",
    filter: "feature" | "user",
    slices: { value: string | null }[],
  ) =>
    slices.flatMap(({ value }) =>
      value === null
        ? []
        : [
            {
              kind,
              name: value,
              id: value,
              href: activityHref(workspace, { period: "year", [filter]: value }),
            },
          ],
    );
  return [
    ...(projects?.projects ?? [])
      .filter(({ archived_at: archivedAt }) => archivedAt === null)
      .map(({ slug, name }) => ({
        ...{ kind: "Project" as const, name, id: slug },
        href: `/${workspace}/projects/${slug}`,
      })),
    ...(keys?.api_keys ?? [])
      .filter(({ status }) => status === "active")
      .map(({ id, name }) => ({
        ...{ kind: "Key" as const, name, id },
        href: activityHref(workspace, { period: "all", key: id }),
      })),
    ...(people?.members ?? []).map(({ user_id: id, display_name: name, email }) => ({
      ...{ kind: "Member" as const, name: name ? `${name} (${email})` : email, id },
      href: `/${workspace}/settings/members`,
    })),
    ...named("Feature", "feature", spend?.by_feature ?? []),
    ...named("Person", "user", spend?.by_user ?? []),
  ];
}
