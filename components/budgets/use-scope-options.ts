"use client";

import type { z } from "zod";
import { useApi } from "@/components/requests/use-api";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import type { Option } from "@/components/ui/combobox-option";
import type { apiKeyList } from "@/lib/contract/access/api-keys";
import type { budget } from "@/lib/contract/spend/budgets";
import type { metrics } from "@/lib/contract/spend/metrics";

/** The kinds of scope a budget can have. */
export type ScopeType = z.output<typeof budget>["scope_type"];

/** The kinds of scope whose values are the names that messages use. They need not have any yet. */
export function isNamed(type: ScopeType): type is Exclude<ScopeType, "global" | "project" | "key"> {
  return type !== "global" && type !== "project" && type !== "key";
}

export type BudgetPeriod = z.output<typeof budget>["period"];

/**
 * The known values of a kind of scope: projects, active live keys, or the names that this year's costs have.
 * Empty while they are loading, and when they cannot be read: names can be typed as well.
 */
export function useScopeOptions(workspace: string, type: ScopeType): Option[] {
  const path = `/api/v1/workspaces/${workspace}`;
  const projects = useProjectList(workspace);
  const keys = useApi<typeof apiKeyList>(type === "key" ? `${path}/api-keys` : undefined).answer;
  const spend = useApi<typeof metrics>(isNamed(type) ? `${path}/metrics?period=year` : undefined).answer;
  if (type === "global") return [];
  if (type === "project") return projects.map((project) => toProjectOption(project, "slug"));
  if (type === "key") {
    const usable = keys?.api_keys.filter((key) => key.status === "active" && key.environment === "live");
    return (
      usable?.map(({ id, name, last_four }) => ({ value: id, label: name, hint: `…${last_four}` })) ?? []
    );
  }
  return spend?.[`by_${type}`].flatMap(({ value }) => (value === null ? [] : { value, label: value })) ?? [];
}
