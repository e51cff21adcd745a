"use client";

import { callApi } from "@/components/requests/api";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { recurringSubscription } from "@/lib/contract/ledger/subscriptions";
import { subscriptionsId } from "./subscription-id";

/** A button that stops the charges of a subscription, after a question. */
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
  const path = `/api/v1/workspaces/${workspace}/subscriptions/${id}`;
  return (
    <ConfirmButton
      label="Stop"
      aria-label={`Stop ${vendor}`}
      size="sm"
      title={`Stop ${vendor}?`}
      confirm="Stop"
      onConfirm={() => callApi<typeof recurringSubscription>("DELETE", path)}
      done={`${vendor} is stopped.`}
      focusAfter={subscriptionsId}
    >
      The next charge, <strong>{next}</strong>, and all later ones are not booked. Earlier charges stay. This
      does not cancel your contract with {vendor}. A stopped subscription cannot be resumed; to continue,
      record it again.
    </ConfirmButton>
  );
}
