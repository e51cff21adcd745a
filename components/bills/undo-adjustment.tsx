"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { billAdjustment } from "@/lib/contract/bills/bill-adjustments";

/** Undoes an adjustment. @throws Problem */
export const undoAdjustment = (workspace: string, id: string) =>
  callApi<typeof billAdjustment>("DELETE", `/api/v1/workspaces/${workspace}/bill-adjustments/${id}`);

/** A button that undoes an adjustment. Its difference can then be booked again. */
export function UndoAdjustment({ workspace, id }: { workspace: string; id: string }) {
  const undo = useMutation(() => undoAdjustment(workspace, id), {
    done: "Undone. Every total is as it was before.",
  });
  return (
    <Button variant="outline" size="sm" disabled={undo.isPending} onClick={() => undo.run()}>
      Undo
    </Button>
  );
}
