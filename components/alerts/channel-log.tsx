"use client";

import { useState } from "react";
import { formatCount } from "@/components/figures/format-count";
import { Time } from "@/components/figures/time";
import { useApi } from "@/components/requests/use-api";
import { Alert } from "@/components/ui/alert";
import { Sheet, SheetContent, SheetHeader, SheetTitle } from "@/components/ui/sheet";
import { Skeleton } from "@/components/ui/skeleton";
import type { AlertChannel } from "@/lib/contract/alerts/alert-channels";
import type { AlertDelivery, deliveryList } from "@/lib/contract/alerts/alerts";
import { DeliveryOutcome } from "./delivery-outcome";

const rows = 50;

/** The deliveries of a channel, in a sheet beside the page. States: loading, the deliveries, none, and a problem. */
export default function ChannelLog({
  workspace,
  channel,
  canEdit,
  onClose,
}: {
  workspace: string;
  channel: AlertChannel;
  canEdit: boolean;
  onClose: () => void;
}) {
  // Counts the deliveries that were sent again, to read the log again after each.
  const [resent, setResent] = useState(0);
  const base = `/api/v1/workspaces/${workspace}`;
  const path = `${base}/alert-channels/${channel.id}/deliveries?limit=${rows}`;
  return (
    <Sheet open onOpenChange={onClose}>
      <SheetContent>
        <SheetHeader>
          <SheetTitle>Deliveries of {channel.name}</SheetTitle>
        </SheetHeader>
        <Deliveries
          key={resent}
          path={path}
          resendPathOf={({ id }) => (canEdit ? `${base}/alert-deliveries/${id}/resend` : undefined)}
          onResent={() => setResent(resent + 1)}
        />
      </SheetContent>
    </Sheet>
  );
}

function Deliveries({
  path,
  resendPathOf,
  onResent,
}: {
  path: string;
  resendPathOf: (delivery: AlertDelivery) => string | undefined;
  onResent: () => void;
}) {
  const { answer, problem } = useApi<typeof deliveryList>(path);
  if (problem) return <Alert variant="destructive">{problem.message}</Alert>;
  if (!answer) {
    return (
      <div aria-busy="true" className="grid gap-4">
        {["w-52", "w-64", "w-40", "w-56"].map((width) => (
          <Skeleton key={width} className={width} />
        ))}
      </div>
    );
  }
  if (answer.deliveries.length === 0) {
    return (
      <p className="text-muted-foreground text-sm">Nothing was sent to this channel in the last 30 days.</p>
    );
  }
  return (
    <>
      <ul aria-label="Deliveries" className="grid text-[13px]">
        {answer.deliveries.map((delivery) => (
          <li key={delivery.id} className="grid gap-1 border-t py-2.5 first:border-t-0 first:pt-0">
            <DeliveryOutcome
              delivery={delivery}
              label={labelOf(delivery)}
              resendPath={delivery.is_test ? undefined : resendPathOf(delivery)}
              onResent={onResent}
            />
            <p className="pl-5 text-muted-foreground text-xs">
              <Time at={delivery.created_at} />
              {delivery.last_status === null ? null : ` · HTTP ${delivery.last_status}`}
            </p>
          </li>
        ))}
      </ul>
      {answer.next_cursor === null ? null : (
        <p className="text-muted-foreground text-xs">The newest {rows}. The API lists the others.</p>
      )}
    </>
  );
}

function labelOf({ alert, digest, budget_request: request }: AlertDelivery): string {
  if (request) return request.title;
  if (digest) return `Digest of ${formatCount(digest.count, "alert")}`;
  return alert?.title ?? "Test";
}
