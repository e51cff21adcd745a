"use client";

import { Ban, Check, CircleAlert, Clock } from "lucide-react";
import type { ReactNode } from "react";
import { Time } from "@/components/figures/time";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { AlertDelivery, alertDelivery } from "@/lib/contract/alerts/alerts";

type Outcome = Pick<AlertDelivery, "state" | "attempts" | "last_error" | "next_attempt_at" | "delivered_at">;

/** How a delivery ended, or why it has not yet: "Finance: delivered 2 min ago". A dead one can be sent again. */
export function DeliveryOutcome({
  delivery,
  label,
  resendPath,
  onResent,
}: {
  delivery: Outcome;
  label: string;
  /** The endpoint that sends it again; undefined if the reader may not. */
  resendPath?: string | undefined;
  onResent?: () => void;
}) {
  const { state } = delivery;
  const resend = useMutation((path: string) => callApi<typeof alertDelivery>("POST", path), {
    done: "Sending again.",
  });
  return (
    <span className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-1.5">
      {icons[state]}
      <span className="[overflow-wrap:anywhere]">
        <span className="font-medium">{label}:</span>{" "}
        <span className={state === "dead" ? "text-destructive" : "text-muted-foreground"}>
          <Words {...delivery} />
        </span>
        {state === "dead" && resendPath ? (
          <Button
            variant="outline"
            size="sm"
            className="ml-2 align-middle"
            disabled={resend.isPending}
            aria-label={`Send again: ${label}`}
            onClick={async () => {
              if (await resend.run(resendPath)) onResent?.();
            }}
          >
            Send again
          </Button>
        ) : null}
      </span>
    </span>
  );
}

const icons: Record<Outcome["state"], ReactNode> = {
  delivered: <Check aria-hidden="true" className="size-3.5 mt-0.5 text-success" />,
  pending: <Clock aria-hidden="true" className="size-3.5 mt-0.5 text-muted-foreground" />,
  dead: <CircleAlert aria-hidden="true" className="size-3.5 mt-0.5 text-destructive" />,
  collected: <Clock aria-hidden="true" className="size-3.5 mt-0.5 text-muted-foreground" />,
  cancelled: <Ban aria-hidden="true" className="size-3.5 mt-0.5 text-muted-foreground" />,
};

function Words({ state, attempts, last_error: error, next_attempt_at: next, delivered_at: at }: Outcome) {
  switch (state) {
    case "delivered":
      return (
        <>
          delivered {at ? <Time at={at} /> : null}
          {attempts > 1 ? ` at attempt ${attempts}` : null}
        </>
      );
    case "pending":
      // A dead delivery that is sent again still has its old error, but no attempts.
      return error === null || attempts === 0 ? (
        "is being sent"
      ) : (
        <>
          failed {attempts === 1 ? "once" : `${attempts} times`}: {error} Next attempt{" "}
          {next ? <Time at={next} /> : "soon"}.
        </>
      );
    case "dead":
      return <>not delivered. {error}</>;
    case "cancelled":
      return "not sent: the channel was turned off or deleted";
    case "collected":
      return "waits for the next digest";
  }
}
