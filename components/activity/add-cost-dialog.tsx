"use client";

import { useState } from "react";
import { formatUsd } from "@/components/figures/money";
import { readerZone } from "@/components/reader/by-reader";
import { useMutation } from "@/components/requests/use-mutation";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import { Combobox } from "@/components/ui/combobox";
import { DateInput } from "@/components/ui/date-input";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { toast } from "@/components/ui/toaster";
import { ExpenseFields, UsageFields } from "./cost-fields";
import { type ManualKind, recordByHand, todayIn, toManualMessage } from "./manual-message";

type Props = { workspace: string; environment: string; onClose: () => void };

/** Records one cost by hand: an expense, or usage that nothing else reported. */
export default function AddCostDialog({ workspace, environment, onClose }: Props) {
  const projects = useProjectList(workspace);
  const [kind, setKind] = useState<ManualKind>("expense");
  const [project, setProject] = useState<string[]>([]);
  const [idempotencyKey] = useState(() => `manual:${crypto.getRandomValues(new Uint32Array(4)).join("-")}`);
  const { run, reset, isPending, problem, fieldErrors } = useMutation(recordByHand, { quiet: true });
  const today = todayIn(readerZone());

  const submit = async (fields: FormData) => {
    const form = Object.fromEntries(fields) as Record<string, string>;
    const [slug = ""] = project;
    const usd = await run(
      { workspace, environment, project: slug, idempotencyKey },
      toManualMessage(kind, form, today),
    );
    if (usd === undefined) return;
    toast(`Recorded ${formatUsd(usd)} for ${slug}`);
    onClose();
  };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <DialogHeader>
          <DialogTitle>Add a cost</DialogTitle>
          {environment === "test" ? (
            <DialogDescription>It is recorded as test data.</DialogDescription>
          ) : null}
        </DialogHeader>
        <Form onSubmit={submit} noValidate className="grid gap-4">
          <SegmentedControl
            legend="Type of cost"
            name="kind"
            className="justify-self-start"
            options={[
              { value: "expense", label: "Expense" },
              { value: "usage", label: "Usage" },
            ]}
            value={kind}
            onChange={(value) => {
              setKind(value as ManualKind);
              reset();
            }}
          />
          <FormField
            label="Project"
            description="A project, or the slug of a new one."
            error={fieldErrors.project}
          >
            {(control) => (
              <Combobox
                {...control}
                options={projects.map((one) => toProjectOption(one, "slug"))}
                value={project}
                onChange={setProject}
                limit={1}
                allowNew
                placeholder="checkout"
              />
            )}
          </FormField>
          {kind === "expense" ? (
            <ExpenseFields fieldErrors={fieldErrors} />
          ) : (
            <UsageFields fieldErrors={fieldErrors} />
          )}
          <FormField label={`Day (${readerZone()})`} error={fieldErrors["message.occurred_at"]}>
            {(control) => <DateInput {...control} name="day" defaultValue={today} max={today} />}
          </FormField>
          <DialogFormFooter
            submit={isPending ? "Recording" : "Record"}
            isPending={isPending}
            problem={problem}
          />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
