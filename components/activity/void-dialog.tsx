"use client";

import { useState } from "react";
import { Money } from "@/components/figures/money";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Textarea } from "@/components/ui/textarea";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { undoBulk } from "./bulk-action";
import { useShowMessage } from "./message-link";
import { newAttempt, voidMessage } from "./void-message";

type Props = { workspace: string; message: MessageDetail; onClose: () => void };

/** Asks why a cost is to be voided, and voids it. */
export default function VoidDialog({ workspace, message, onClose }: Props) {
  const show = useShowMessage();
  const [attempt] = useState(newAttempt);
  const { run, isPending, problem, fieldErrors } = useMutation(voidMessage, {
    quiet: true,
    refresh: false,
    check: (_workspace, _id, { reason }) => requireReason(reason),
    done: "Voided. Totals and budgets no longer count it.",
    undo: ({ action }) => ({
      run: () => undoBulk(workspace, action),
      done: "Undone. The cost is recorded again.",
    }),
  });
  const submit = async (fields: FormData) => {
    const reason = String(fields.get("reason") ?? "").trim();
    const answer = await run(workspace, message.id, { reason, idempotency_key: attempt });
    if (!answer) return;
    onClose();
    show(answer.message);
  };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <DialogHeader>
          <DialogTitle>Void this cost?</DialogTitle>
          <DialogDescription>
            A second entry takes <Money usd={message.amount_usd} /> out of every total, budget and export. The
            cost stays in the list, marked as voided. {undoable}
          </DialogDescription>
        </DialogHeader>
        <Form onSubmit={submit} noValidate className="grid gap-4">
          <ReasonField error={fieldErrors.reason} />
          <DialogFormFooter
            submit={isPending ? "Voiding" : "Void"}
            isPending={isPending}
            problem={problem}
            destructive
          />
        </Form>
      </DialogContent>
    </Dialog>
  );
}

/** How long a void or a correction of many costs can be undone (`undo_until` of a bulk action). */
export const undoable = "You can undo this for ten minutes.";

/** The error of a missing reason by field; none if there is a reason. */
export const requireReason = (reason: string): Record<string, string> =>
  reason === "" ? { reason: "is required" } : {};

/** The field for the reason, which the ledger and the audit log store. */
export function ReasonField({ error }: { error: string | undefined }) {
  return (
    <FormField label="Reason" description="Kept with the cost and in the audit log." error={error}>
      {(control) => <Textarea {...control} name="reason" rows={2} maxLength={500} />}
    </FormField>
  );
}
