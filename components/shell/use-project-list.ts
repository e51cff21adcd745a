"use client";

import { useEffect, useState } from "react";
import { callApi } from "@/components/api";

type Project = { slug: string; name: string; archived_at: string | null };

/** A workspace's projects that are in use, read when they are first asked for; none where they cannot be read. */
export function useProjectList(workspace: string): Project[] {
  const [projects, setProjects] = useState<Project[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    callApi("GET", `/api/v1/workspaces/${workspace}/projects`, undefined, abort.signal).then(
      (answer) => {
        const { projects: all } = answer as { projects: Project[] };
        setProjects(all.filter(({ archived_at }) => archived_at === null));
      },
      // The palette is for going places: without projects it still goes to pages.
      () => {},
    );
    return () => abort.abort();
  }, [workspace]);
  return projects;
}
