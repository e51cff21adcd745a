"use client";

import { DeleteButton, type Proof } from "@/components/deletion/delete-dialog";
import { callApi } from "@/components/requests/api";
import type { deletedWorkspace } from "@/lib/contract/access/me";
import type { deleteWorkspaceRequest } from "@/lib/contract/access/workspaces";

/** Deletes a workspace, confirmed by its name and a proof of identity, and opens the page where the deletion can be undone. */
export function DeleteWorkspace({ slug, name, proof }: { slug: string; name: string; proof: Proof }) {
  const remove = async (typed: string) => {
    await callApi<typeof deletedWorkspace, typeof deleteWorkspaceRequest>(
      "POST",
      `/api/v1/workspaces/${slug}/deletion`,
      { name: typed },
    );
    window.location.assign(`/workspaces/deleted?workspace=${slug}`);
  };
  return (
    <DeleteButton
      label="Delete workspace"
      title={`Delete ${name}?`}
      expected={name.trim()}
      expectedLabel="Name of the workspace"
      proof={proof}
      onDelete={remove}
    >
      Its keys, connections and links stop working at once, charges, alerts and reports stop, and every member
      is notified by mail. You can undo this for thirty days. Then everything in the workspace is erased.
    </DeleteButton>
  );
}
