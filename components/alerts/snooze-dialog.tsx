"use client";

import { addDays } from "@/components/figures/utc-day";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { AlertRule, alertSnooze, snoozeRequest } from "@/lib/contract/alerts/alert-rules";

/** Snoozes a rule, or one of its subjects, until a day. */
export default function SnoozeDialog({
  workspace,
  rule,
  name,
  subjectId,
  onClose,
}: {
  workspace: string;
  rule: AlertRule;
  /** What is snoozed, for the title. */
  name: string;
  /** Null for all subjects of the rule. */
  subjectId: string | null;
  onClose: () => void;
}) {
  const today = new Date().toISOString().slice(0, 10);
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) =>
      callApi<typeof alertSnooze, typeof snoozeRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/alert-snoozes`,
        { rule, subject_id: subjectId, until: `${textOf(fields, "until")}T00:00:00Z` },
      ),
    { done: `${name} is snoozed.`, quiet: true },
  );
  const save = async (fields: FormData) => {
    if (await run(fields)) onClose();
  };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form noValidate onSubmit={save} className="grid gap-5">
          <DialogHeader>
            <DialogTitle className="[overflow-wrap:anywhere]">Snooze {name}</DialogTitle>
            <DialogDescription>
              Alerts that fire during the snooze are listed here but never sent.
            </DialogDescription>
          </DialogHeader>
          <TextField
            label="Until"
            description="The day begins at midnight UTC."
            error={fieldErrors.until}
            name="until"
            type="date"
            min={addDays(today, 1)}
            max={addDays(today, 366)}
            defaultValue={addDays(today, 7)}
          />
          <DialogFormFooter submit="Snooze" isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
