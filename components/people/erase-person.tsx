"use client";

import { callApi } from "@/components/requests/api";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { eraseRequest, erasure } from "@/lib/contract/spend/people";
import { ErasurePreview } from "./erasure-preview";
import { peopleId } from "./people-id";

/** A button that erases a person, after a confirmation. */
export function ErasePerson({ workspace, user }: { workspace: string; user: string }) {
  const path = `/api/v1/workspaces/${workspace}/people/erasures`;
  return (
    <ConfirmButton
      label="Erase"
      aria-label={`Erase ${user}`}
      size="sm"
      title={`Erase ${user}?`}
      confirm="Erase"
      onConfirm={() => callApi<typeof erasure, typeof eraseRequest>("POST", path, { user })}
      done="The name is being erased."
      focusAfter={peopleId}
      details={<ErasurePreview workspace={workspace} user={user} />}
    >
      A random pseudonym replaces the name in all messages, totals, budgets and keys of this workspace.
      Amounts stay. This cannot be undone. If your programs keep sending this name, it is recorded again:
      change them first.
    </ConfirmButton>
  );
}
