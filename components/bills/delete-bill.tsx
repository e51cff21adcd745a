"use client";

import { callApi } from "@/components/requests/api";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { bill } from "@/lib/contract/bills/bills";

/** A button that deletes a bill, after a confirmation. */
export function DeleteBill({ workspace, id, name }: { workspace: string; id: string; name: string }) {
  return (
    <ConfirmButton
      label="Delete"
      aria-label={`Delete ${name}`}
      size="sm"
      title={`Delete ${name}?`}
      confirm="Delete the bill"
      onConfirm={() => callApi<typeof bill>("DELETE", `/api/v1/workspaces/${workspace}/bills/${id}`)}
      done={`${name} is deleted.`}
    >
      What bills before it said of its days counts again. To bring it back, add the file again.
    </ConfirmButton>
  );
}
