"use client";

import { useEffect, useState } from "react";
import type { z } from "zod";
import { callApi } from "@/components/api";
import type { Option } from "@/components/ui/combobox";
import type { apiKeyList } from "@/lib/contract/api-keys";
import type { budget } from "@/lib/contract/budgets";
import type { metrics } from "@/lib/contract/metrics";
import type { projectList } from "@/lib/contract/projects";

/** What a budget may be of. */
export type ScopeType = z.output<typeof budget>["scope_type"];

/** What is known in a workspace to set a budget of one kind for; none until it is read, or where it cannot be. */
export function useScopeOptions(workspace: string, type: ScopeType): Option[] {
  const [found, setFound] = useState<{ type: ScopeType; options: Option[] }>();
  useEffect(() => {
    if (type === "global") return;
    const abort = new AbortController();
    readOptions(`/api/v1/workspaces/${workspace}`, type, abort.signal).then(
      (options) => setFound({ type, options }),
      // Features and providers can be typed, and the API says what is wrong with the rest.
      () => {},
    );
    return () => abort.abort();
  }, [workspace, type]);
  return found?.type === type ? found.options : [];
}

async function readOptions(
  path: string,
  type: Exclude<ScopeType, "global">,
  signal: AbortSignal,
): Promise<Option[]> {
  if (type === "project") {
    const { projects } = await callApi<typeof projectList>("GET", `${path}/projects`, undefined, signal);
    return projects
      .filter(({ archived_at: archived }) => archived === null)
      .map(({ slug, name }) => ({ value: slug, label: name, ...(name !== slug && { hint: slug }) }));
  }
  if (type === "key") {
    const { api_keys: keys } = await callApi<typeof apiKeyList>("GET", `${path}/api-keys`, undefined, signal);
    return keys
      .filter(({ status, environment }) => status === "active" && environment === "live")
      .map(({ id, name, last_four }) => ({ value: id, label: name, hint: `…${last_four}` }));
  }
  const spent = await callApi<typeof metrics>("GET", `${path}/metrics?period=year`, undefined, signal);
  return spent[`by_${type}`].flatMap(({ value }) => (value === null ? [] : { value, label: value }));
}
