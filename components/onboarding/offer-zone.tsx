"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { useOwnZone } from "@/components/schedule/use-own-zone";
import { Button } from "@/components/ui/button";
import type { membership } from "@/lib/contract/access/me";
import type { updateWorkspaceRequest } from "@/lib/contract/access/workspaces";

/**
 * Offers the browser's time zone to a workspace without a chosen one, whose days are in UTC. Shows nothing if the browser's is the
 * same.
 */
export function OfferZone({ workspace }: { workspace: string }) {
  const own = useOwnZone();
  const { run, isPending } = useMutation(
    (zone: string) =>
      callApi<typeof membership, typeof updateWorkspaceRequest>("PATCH", `/api/v1/workspaces/${workspace}`, {
        time_zone: zone,
      }),
    { done: ({ time_zone: zone }) => `Days begin at midnight in ${zone}.` },
  );
  if (own === undefined || own === "UTC") return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-muted-foreground text-sm">
      Days and months begin at midnight UTC.
      <Button variant="outline" size="sm" disabled={isPending} onClick={() => run(own)}>
        Use {own}
      </Button>
    </p>
  );
}
