"use client";

import { useState } from "react";
import { readerZone } from "@/components/reader/by-reader";
import { useMutation } from "@/components/requests/use-mutation";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import { Combobox } from "@/components/ui/combobox";
import { DateInput } from "@/components/ui/date-input";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { type CorrectableKind, dayOf, toCorrectedMessage, valuesOf } from "./corrected-message";
import { ExpenseFields, SubscriptionFields, UsageFields } from "./cost-fields";
import { useShowMessage } from "./message-link";
import { ReasonField, requireReason } from "./void-dialog";
import { correctMessage, newAttempt } from "./void-message";

type Props = { workspace: string; kind: CorrectableKind; message: MessageDetail; onClose: () => void };

const fieldsOf = { expense: ExpenseFields, usage: UsageFields, subscription: SubscriptionFields };

/** Corrects a cost: the form begins with what was recorded. */
export default function CorrectDialog({ workspace, kind, message, onClose }: Props) {
  const show = useShowMessage();
  const projects = useProjectList(workspace);
  const [project, setProject] = useState(() =>
    message.entries.slice(0, 1).map((entry) => entry.project_slug),
  );
  const [attempt, setAttempt] = useState(newAttempt);
  const { run, isPending, problem, fieldErrors } = useMutation(correctMessage, {
    quiet: true,
    refresh: false,
    check: (_workspace, _id, { reason }) => requireReason(reason),
    done: "Corrected. The old entry is voided, and the new one counts.",
  });
  const submit = async (fields: FormData) => {
    const form = Object.fromEntries(fields) as Record<string, string>;
    const [slug = ""] = project;
    const answer = await run(workspace, message.id, {
      reason: (form.reason ?? "").trim(),
      project: slug,
      message: toCorrectedMessage(kind, message, form, readerZone()),
      idempotency_key: attempt,
    });
    // The next attempt needs another idempotency key, because its values may differ.
    if (!answer) return setAttempt(newAttempt());
    onClose();
    show(answer.correction?.id ?? answer.id);
  };
  const Fields = fieldsOf[kind];
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <DialogHeader>
          <DialogTitle>Correct this cost</DialogTitle>
          <DialogDescription>
            The recorded cost is voided and replaced by one with these values, under the same key.
          </DialogDescription>
        </DialogHeader>
        <Form onSubmit={submit} noValidate className="grid gap-4">
          <FormField label="Project" error={fieldErrors.project}>
            {(control) => (
              <Combobox
                {...control}
                options={projects.map((one) => toProjectOption(one, "slug"))}
                value={project}
                onChange={setProject}
                limit={1}
                placeholder="checkout"
              />
            )}
          </FormField>
          <Fields fieldErrors={fieldErrors} values={valuesOf(message)} />
          <FormField
            label={`Day (${readerZone()})`}
            error={fieldErrors["message.occurred_at"] ?? fieldErrors["message.starts_on"]}
          >
            {(control) => <DateInput {...control} name="day" defaultValue={dayOf(message, readerZone())} />}
          </FormField>
          <ReasonField error={fieldErrors.reason} />
          <DialogFormFooter
            submit={isPending ? "Correcting" : "Correct"}
            isPending={isPending}
            problem={problem}
          />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
