"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { usePoll } from "@/components/requests/use-poll";
import type { source } from "@/lib/contract/sources/sources";
import { type SourceView, toSourceView } from "./source-view";

/**
 * Polls a source until it recorded something; see `usePoll`.
 * @param path of the source in the API; undefined as long as there is none
 */
export function useSource(path: string | undefined): SourceView | undefined {
  const [read, setRead] = useState<SourceView>();
  usePoll(
    async (signal) => {
      if (path !== undefined)
        setRead(toSourceView(await callApi<typeof source>("GET", path, undefined, signal)));
    },
    path === undefined || (read?.recorded ?? 0) > 0,
  );
  return read;
}
