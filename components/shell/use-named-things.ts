"use client";

import { useEffect, useState } from "react";
import type { z } from "zod";
import { activityHref } from "@/components/filters/href";
import { useApi } from "@/components/requests/use-api";
import type { apiKeyList } from "@/lib/contract/access/api-keys";
import type { organization } from "@/lib/contract/access/workspaces";
import type { metrics } from "@/lib/contract/spend/metrics";
import type { nameList } from "@/lib/contract/spend/names";
import type { projectList } from "@/lib/contract/spend/projects";

/** A named thing of a workspace and its page. Names need not be unique; ids are unique within a kind. */
export type NamedThing = {
  kind: "Project" | "Key" | "Member" | "Feature" | "Person";
  name: string;
  id: string;
  href: string;
};

/** The pause in typing after which the service searches names. */
const pauseMs = 200;

/** The lengths of text that the service searches for. Only the type is imported, so that the page does not load zod. */
const searchLength: typeof import("@/lib/contract/spend/names").searchLength = { min: 2, max: 100 };

/** Delays changes of a text until it has stayed the same for `pauseMs`. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/**
 * The named things of a workspace. A kind is missing while it is loading or if it cannot be read. Features and people are those with
 * the highest spend this year, and those that the service finds by the text.
 * @returns `isLoading` while any kind is missing; `isSearching` while the service searches for the text; `problem`: why the first kind
 *   that failed could not be read
 */
export function useNamedThings(
  workspace: string,
  text: string,
): {
  things: NamedThing[];
  isLoading: boolean;
  isSearching: boolean;
  problem: string | undefined;
} {
  const wanted = text.trim();
  const isLong = wanted.length >= searchLength.min && wanted.length <= searchLength.max;
  const settled = useSettled(wanted);
  const isSettled = settled === wanted;
  const path = `/api/v1/workspaces/${workspace}`;
  const reads = {
    projects: useApi<typeof projectList>(`${path}/projects`),
    keys: useApi<typeof apiKeyList>(`${path}/api-keys`),
    people: useApi<typeof organization>(`${path}/org`),
    spend: useApi<typeof metrics>(`${path}/metrics?period=year`),
  };
  const found = useApi<typeof nameList>(
    isLong && isSettled ? `${path}/names?q=${encodeURIComponent(wanted)}` : undefined,
  );
  const all = Object.values(reads);
  return {
    things: nameThings(workspace, {
      projects: reads.projects.answer,
      keys: reads.keys.answer,
      people: reads.people.answer,
      spend: reads.spend.answer,
      found: found.answer,
    }),
    isLoading: all.some(({ answer, problem }) => !answer && !problem),
    isSearching: isLong && !found.answer && !found.problem,
    problem: [...all, found].find(({ problem }) => problem)?.problem?.message,
  };
}

function nameThings(
  workspace: string,
  {
    projects,
    keys,
    people,
    spend,
    found,
  }: {
    projects: z.output<typeof projectList> | undefined;
    keys: z.output<typeof apiKeyList> | undefined;
    people: z.output<typeof organization> | undefined;
    spend: z.output<typeof metrics> | undefined;
    found: z.output<typeof nameList> | undefined;
  },
): NamedThing[] {
  const named = (
    kind: "Feature" | "Person",
    filter: "feature" | "user",
    slices: { value: string | null }[] = [],
    others: string[] = [],
  ) => {
    const names = new Set([...slices.flatMap(({ value }) => value ?? []), ...others]);
    return [...names].map((name) => ({
      ...{ kind, name, id: name },
      href: activityHref(workspace, { period: "year", [filter]: name }),
    }));
  };
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
    ...named("Feature", "feature", spend?.by_feature, found?.features),
    ...named("Person", "user", spend?.by_user, found?.people),
  ];
}
