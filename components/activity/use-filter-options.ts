"use client";

import { useEffect, useState } from "react";
import { ApiError, callApi } from "@/components/api";
import type { metrics } from "@/lib/contract/metrics";
import { type FilterOptions, readOptions } from "./filters";

type Found = { options: FilterOptions; problem: string | undefined };

/**
 * What there is to filter by: what was spent on in some days, and every type, source and way to a cost.
 * @param source the metrics of those days; undefined until somebody wants to know
 */
export function useFilterOptions(source: string | undefined): Found {
  const [found, setFound] = useState<Found>({ options: readOptions(), problem: undefined });
  useEffect(() => {
    if (source === undefined) return;
    const abort = new AbortController();
    callApi<typeof metrics>("GET", source, undefined, abort.signal).then(
      (spent) => setFound({ options: readOptions(spent), problem: undefined }),
      (error: unknown) => {
        if (!abort.signal.aborted && !(error instanceof ApiError)) throw error;
        if (error instanceof ApiError) setFound({ options: readOptions(), problem: error.message });
      },
    );
    return () => abort.abort();
  }, [source]);
  return found;
}
