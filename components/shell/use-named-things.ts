"use client";

import { activityHref } from "@/components/filters/href";
import { useApi } from "@/components/use-api";
import type { apiKeyList } from "@/lib/contract/api-keys";
import type { metrics } from "@/lib/contract/metrics";
import type { organization } from "@/lib/contract/workspaces";

/** Something of a workspace that has a name, and the page that is about it. Names need not be unique; ids are, by kind. */
export type NamedThing = {
  kind: "Key" | "Member" | "Feature" | "Person";
  name: string;
  id: string;
  href: string;
};

/** The keys, members and other named things of a workspace, besides projects. A kind is undefined while it is loading and when it cannot be read. */
export function useNamedThings(workspace: string): NamedThing[] {
  const path = `/api/v1/workspaces/${workspace}`;
  const { answer: keys } = useApi<typeof apiKeyList>(`${path}/api-keys`);
  const { answer: people } = useApi<typeof organization>(`${path}/org`);
  const { answer: spend } = useApi<typeof metrics>(`${path}/metrics?period=year`);
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
