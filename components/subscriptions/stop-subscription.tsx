"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/api";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { toast } from "@/components/ui/toaster";
import type { recurringSubscription } from "@/lib/contract/subscriptions";
import { subscriptionsId } from "./subscription-id";

/** Ends the charges of a subscription, once somebody has said that they mean it. */
export function StopSubscription({
  workspace,
  id,
  vendor,
  next,
}: {
  workspace: string;
  id: string;
  vendor: string;
  /** The next charge, in words: "$45.00 on Dec 5, 2026". */
  next: string;
}) {
  const router = useRouter();
  const [isAsking, setAsking] = useState(false);
  const stop = async () => {
    await callApi<typeof recurringSubscription>(
      "DELETE",
      `/api/v1/workspaces/${workspace}/subscriptions/${id}`,
    );
    toast(`${vendor} is stopped.`);
    router.refresh();
    // Its row, and the button the focus would return to, are about to go.
    requestAnimationFrame(() => document.getElementById(subscriptionsId)?.focus());
  };
  return (
    <>
      <Button
        variant="outline"
        size="sm"
        aria-haspopup="dialog"
        aria-label={`Stop ${vendor}`}
        onClick={() => setAsking(true)}
      >
        Stop
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Stop ${vendor}?`}
        confirm="Stop"
        onConfirm={stop}
      >
        The next charge, <strong>{next}</strong>, is not booked, and none after it. What is booked stays. This
        ends the record here, not the contract with {vendor}; it cannot be taken up again, only recorded anew.
      </ConfirmDialog>
    </>
  );
}
