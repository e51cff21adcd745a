"use client";

import { useEffect, useState } from "react";
import type { z } from "zod";
import { callApi, Problem } from "./api";

/**
 * Reads an endpoint of the API as the signed-in user, again whenever the path changes.
 * `useApi<typeof projectList>("/api/v1/workspaces/acme/projects")`
 * @param path undefined to read nothing yet
 * @returns `answer`, or the `problem` if it could not be read; neither while it is loading
 */
export function useApi<Answer extends z.ZodType>(
  path: string | undefined,
): { answer?: z.output<Answer>; problem?: Problem } {
  const [result, setResult] = useState<{ path: string; answer?: z.output<Answer>; problem?: Problem }>();
  useEffect(() => {
    if (path === undefined) return;
    const abort = new AbortController();
    callApi<Answer>("GET", path, undefined, abort.signal).then(
      (answer) => setResult({ path, answer }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const problem =
          error instanceof Problem ? error : new Problem("This could not be loaded. Try again.");
        setResult({ path, problem });
      },
    );
    return () => abort.abort();
  }, [path]);
  return result && result.path === path ? result : {};
}
