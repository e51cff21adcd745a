"use client";

import { useEffect, useState } from "react";
import { callApi } from "@/components/api";
import type { Project, projectList } from "@/lib/contract/projects";

/** A workspace's projects that are in use, read when they are first asked for; none where they cannot be read. */
export function useProjectList(workspace: string): Project[] {
  const [projects, setProjects] = useState<Project[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    const path = `/api/v1/workspaces/${workspace}/projects`;
    callApi<typeof projectList>("GET", path, undefined, abort.signal).then(
      ({ projects: all }) => setProjects(all.filter(({ archived_at }) => archived_at === null)),
      // The palette is for going places: without projects it still goes to pages.
      () => {},
    );
    return () => abort.abort();
  }, [workspace]);
  return projects;
}
