"use client";

import { useEffect, useState } from "react";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toaster";
import type { recommendationList } from "@/lib/contract/spend/recommendations";

/**
 * The button that has the recommendations computed again. Until they are, the page is read again and again.
 * @param props.path their address in the API
 * @param props.computedAt when those of the page were computed
 */
export function ComputeAgain({ path, computedAt }: { path: string; computedAt: string }) {
  /** When those were computed that are replaced; undefined if nothing was asked for. */
  const [replaced, setReplaced] = useState<string | null>();
  const { run, isPending } = useMutation(() => callApi<typeof recommendationList>("POST", path), {
    refresh: false,
  });
  const isComputing = replaced === computedAt;
  const isDone = replaced !== undefined && !isComputing;
  useEffect(() => {
    if (!isDone) return;
    setReplaced(undefined);
    toast("The recommendations are computed.");
  }, [isDone]);
  const ask = async () => {
    const answer = await run();
    if (answer) setReplaced(answer.computed_at);
  };
  return (
    <>
      <RefreshWhile isRunning={isComputing} />
      {isComputing ? (
        <span role="status" className="text-muted-foreground text-sm">
          Takes up to a minute
        </span>
      ) : null}
      <Button variant="outline" size="sm" disabled={isPending || isComputing} onClick={ask}>
        {isComputing ? "Computing…" : "Compute again"}
      </Button>
    </>
  );
}
