"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useApi } from "@/components/requests/use-api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { organization } from "@/lib/contract/access/workspaces";
import type { changeEntryRequest, inboxEntry } from "@/lib/contract/alerts/alert-inbox";
import type { EntryOfActions } from "./entry-view";

/** Assigns an entry of the inbox to a member of the workspace. */
export default function AssignDialog({
  entry: { id, title, assigneeId },
  workspace,
  onClose,
}: {
  entry: EntryOfActions;
  workspace: string;
  onClose: () => void;
}) {
  const path = `/api/v1/workspaces/${workspace}`;
  const [chosen, setChosen] = useState(assigneeId ?? "");
  const { answer, problem: notLoaded } = useApi<typeof organization>(`${path}/org`);
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) =>
      callApi<typeof inboxEntry, typeof changeEntryRequest>("PATCH", `${path}/alerts/inbox/${id}`, {
        assignee_id: textOf(fields, "assignee_id") || null,
      }),
    {
      done: ({ assignee }) => (assignee ? `Assigned to ${assignee.name}.` : "Unassigned."),
      quiet: true,
    },
  );
  const save = async (fields: FormData) => {
    if (await run(fields)) onClose();
  };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form noValidate onSubmit={save} className="grid gap-5">
          <DialogHeader>
            <DialogTitle>Assign</DialogTitle>
            <DialogDescription className="[overflow-wrap:anywhere]">{title}</DialogDescription>
          </DialogHeader>
          <FormField label="Who takes care of it?" error={fieldErrors.assignee_id ?? notLoaded?.message}>
            {(control) => (
              <Select
                {...control}
                name="assignee_id"
                value={chosen}
                onChange={(event) => setChosen(event.target.value)}
              >
                {/* Not disabled meanwhile: the dialog would begin with the focus on Cancel. */}
                {answer ? (
                  <option value="">Nobody</option>
                ) : (
                  <option value={chosen}>Loading the members</option>
                )}
                {answer?.members.map(({ user_id: userId, display_name: name, email }) => (
                  <option key={userId} value={userId}>
                    {name ? `${name} (${email})` : email}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
          <DialogFormFooter submit="Assign" isPending={isPending || !answer} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
