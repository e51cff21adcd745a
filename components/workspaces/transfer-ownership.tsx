"use client";

import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { callApi } from "@/components/api";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { toast } from "@/components/ui/toaster";
import type { transferRequest, transferResult } from "@/lib/contract/members";

type Candidate = { userId: string; name: string };

/** Gives a workspace to another of its members. */
export function TransferOwnership({ workspace, candidates }: { workspace: string; candidates: Candidate[] }) {
  const router = useRouter();
  const [chosen, setChosen] = useState<Candidate>();
  if (candidates.length === 0) {
    return <p className="text-sm">Nobody else is in this workspace yet. Invite somebody first.</p>;
  }
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const userId = new FormData(event.currentTarget).get("member");
    setChosen(candidates.find((candidate) => candidate.userId === userId));
  };
  const transfer = async () => {
    if (!chosen) return;
    await callApi<typeof transferResult, typeof transferRequest>(
      "POST",
      `/api/v1/workspaces/${workspace}/transfer`,
      { user_id: chosen.userId },
    );
    toast(`${chosen.name} is the owner now, and you are an admin.`);
    router.refresh();
  };
  return (
    <form onSubmit={choose} className="flex max-w-xl flex-wrap items-end gap-3">
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
      <ConfirmDialog
        open={chosen !== undefined}
        onOpenChange={() => setChosen(undefined)}
        title={`Make ${chosen?.name} the owner?`}
        confirm="Transfer"
        onConfirm={transfer}
      >
        You become an admin at once. Only <strong>{chosen?.name}</strong> can give the ownership back.
      </ConfirmDialog>
    </form>
  );
}
