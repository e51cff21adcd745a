"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Textarea } from "@/components/ui/textarea";
import type { closedMonthList, closeRequest, reopenRequest } from "@/lib/contract/ledger/closed-months";

/** The month to close or reopen. `name`: "October 2026". */
type Month = { month: string; name: string };

/**
 * A button that closes a month, after a confirmation.
 * @param props.summary what is filed, and what happens to later costs
 */
export function CloseMonth({
  workspace,
  month,
  name,
  summary,
}: Month & { workspace: string; summary: string[] }) {
  const path = `/api/v1/workspaces/${workspace}/closed-months`;
  return (
    <ConfirmButton
      label="Close"
      aria-label={`Close ${name}`}
      size="sm"
      title={`Close ${name}?`}
      confirm="Close the month"
      destructive={false}
      onConfirm={() => callApi<typeof closedMonthList, typeof closeRequest>("POST", path, { month })}
      done={`${name} is closed.`}
      details={
        <ul className="grid list-disc gap-1.5 ps-5 text-muted-foreground text-sm">
          {summary.slice(1).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      }
    >
      <strong>{summary[0]}</strong>
    </ConfirmButton>
  );
}

/** A button that reopens the last closed month, after asking for the reason. @param props.id the id of the closing */
export function ReopenMonth({
  workspace,
  id,
  name,
}: Omit<Month, "month"> & { workspace: string; id: string }) {
  const [isOpen, setOpen] = useState(false);
  const path = `/api/v1/workspaces/${workspace}/closed-months/${id}/reopen`;
  const { run, isPending, problem, fieldErrors } = useMutation(
    (reason: string) => callApi<typeof closedMonthList, typeof reopenRequest>("POST", path, { reason }),
    {
      quiet: true,
      check: (reason) => (reason === "" ? { reason: "is required" } : ({} as Record<string, string>)),
      done: `${name} is open again.`,
    },
  );
  const submit = async (fields: FormData) => {
    if (await run(String(fields.get("reason") ?? "").trim())) setOpen(false);
  };
  return (
    <>
      <Button
        size="sm"
        variant="outline"
        aria-haspopup="dialog"
        aria-label={`Reopen ${name}`}
        onClick={() => setOpen(true)}
      >
        Reopen
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent className="sm:max-w-md">
          <DialogHeader>
            <DialogTitle>Reopen {name}?</DialogTitle>
            <DialogDescription>
              Costs, voids and prices change its figures again. Adjustments that were booked since stay where
              they are, and so does the filed export.
            </DialogDescription>
          </DialogHeader>
          <Form onSubmit={submit} noValidate className="grid gap-4">
            <FormField label="Reason" description="Kept in the audit log." error={fieldErrors.reason}>
              {(control) => <Textarea {...control} name="reason" rows={2} maxLength={500} />}
            </FormField>
            <DialogFormFooter
              submit={isPending ? "Reopening" : "Reopen"}
              isPending={isPending}
              problem={problem}
              destructive
            />
          </Form>
        </DialogContent>
      </Dialog>
    </>
  );
}
