"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Form, textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { transferRequest, transferResult } from "@/lib/contract/access/members";

type Candidate = { userId: string; name: string };

/** Transfers the ownership of a workspace to another member, after a confirmation. Says so if there is no other member. */
export function TransferOwnership({ workspace, candidates }: { workspace: string; candidates: Candidate[] }) {
  const [chosen, setChosen] = useState<Candidate>();
  if (candidates.length === 0) {
    return <p className="text-sm">This workspace has no other members yet. Invite someone first.</p>;
  }
  const choose = (fields: FormData) =>
    setChosen(candidates.find((candidate) => candidate.userId === textOf(fields, "member")));
  const transfer = () =>
    callApi<typeof transferResult, typeof transferRequest>(
      "POST",
      `/api/v1/workspaces/${workspace}/transfer`,
      { user_id: chosen?.userId ?? "" },
    );
  return (
    <>
      <Form onSubmit={choose} className="flex max-w-xl flex-wrap items-end gap-3">
        <div className="min-w-48 flex-1">
          <FormField label="New owner">
            {(control) => (
              <Select {...control} name="member">
                {candidates.map(({ userId, name }) => (
                  <option key={userId} value={userId}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
        </div>
        <Button type="submit" variant="outline" aria-haspopup="dialog" className="h-10 sm:h-9">
          Transfer
        </Button>
      </Form>
      <ConfirmDialog
        open={chosen !== undefined}
        onOpenChange={() => setChosen(undefined)}
        title={`Make ${chosen?.name} the owner?`}
        confirm="Transfer"
        onConfirm={transfer}
        done={`${chosen?.name} is the owner now, and you are an admin.`}
      >
        You become an admin at once. Only <strong>{chosen?.name}</strong> can give the ownership back.
      </ConfirmDialog>
    </>
  );
}
