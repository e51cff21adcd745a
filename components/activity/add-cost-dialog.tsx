"use client";

import { type FormEvent, type ReactNode, useState } from "react";
import { formatUsd } from "@/components/money";
import { useProjectList } from "@/components/shell/use-project-list";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import { DateInput } from "@/components/ui/date-input";
import {
  Dialog,
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Textarea } from "@/components/ui/textarea";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import { type ManualKind, recordByHand, toManualMessage } from "./manual-message";

type Props = { workspace: string; environment: string; onClose: () => void };

/** Records one cost by hand: what was paid, or usage that nothing else reported. */
export default function AddCostDialog({ workspace, environment, onClose }: Props) {
  const projects = useProjectList(workspace);
  const [kind, setKind] = useState<ManualKind>("expense");
  const [project, setProject] = useState<string[]>([]);
  const [idempotencyKey] = useState(() => `manual:${crypto.getRandomValues(new Uint32Array(4)).join("-")}`);
  const record = useMutation(recordByHand, { quiet: true });
  const today = new Date().toISOString().slice(0, 10);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    const [slug = ""] = project;
    const usd = await record.run(
      { workspace, environment, project: slug, idempotencyKey },
      toManualMessage(kind, form, today),
    );
    if (usd === undefined) return;
    toast(`Recorded ${formatUsd(usd)} for ${slug}`);
    onClose();
  };
  const errorOf = (field: string) => record.fieldErrors[field];
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <DialogHeader>
          <DialogTitle>Add a cost</DialogTitle>
          {environment === "test" ? (
            <DialogDescription>It is recorded among the test messages.</DialogDescription>
          ) : null}
        </DialogHeader>
        <form onSubmit={submit} noValidate className="grid gap-4">
          <SegmentedControl
            legend="What it is"
            name="kind"
            className="justify-self-start"
            options={[
              { value: "expense", label: "Something paid" },
              { value: "usage", label: "Usage" },
            ]}
            value={kind}
            onChange={(value) => {
              setKind(value as ManualKind);
              record.reset();
            }}
          />
          <FormField
            label="Project"
            description="One of yours, or the slug of a new one."
            error={errorOf("project")}
          >
            {(control) => (
              <Combobox
                {...control}
                options={projects.map(({ slug, name }) => ({ value: slug, label: name, hint: slug }))}
                value={project}
                onChange={setProject}
                limit={1}
                allowNew
                placeholder="checkout"
              />
            )}
          </FormField>
          {kind === "expense" ? <ExpenseFields errorOf={errorOf} /> : <UsageFields errorOf={errorOf} />}
          <FormField label="Day (UTC)" error={errorOf("message.occurred_at")}>
            {(control) => <DateInput {...control} name="day" defaultValue={today} max={today} />}
          </FormField>
          {record.formProblem ? <Alert variant="destructive">{record.formProblem}</Alert> : null}
          <DialogFooter>
            <DialogClose>Cancel</DialogClose>
            <Button type="submit" disabled={record.isPending}>
              {record.isPending ? "Recording" : "Record"}
            </Button>
          </DialogFooter>
        </form>
      </DialogContent>
    </Dialog>
  );
}

type FieldsProps = { errorOf: (field: string) => string | undefined };

function ExpenseFields({ errorOf }: FieldsProps) {
  return (
    <>
      <TextField name="vendor" label="Paid to" error={errorOf("message.vendor")} />
      <div className="grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-3">
        <TextField name="amount" label="Amount" inputMode="decimal" error={errorOf("message.amount")} />
        <TextField name="currency" label="Currency" defaultValue="USD" error={errorOf("message.currency")} />
      </div>
      <TextField name="category" label="Category" optional error={errorOf("message.category")} />
      <FormField label="Notes" optional error={errorOf("message.notes")}>
        {(control) => <Textarea {...control} name="notes" rows={2} />}
      </FormField>
    </>
  );
}

function UsageFields({ errorOf }: FieldsProps) {
  return (
    <>
      <Pair>
        <TextField
          name="provider"
          label="Provider"
          placeholder="openai"
          error={errorOf("message.provider")}
        />
        <TextField
          name="model"
          label="Model"
          placeholder="gpt-4o"
          optional
          error={errorOf("message.model")}
        />
      </Pair>
      <Pair>
        <TextField name="quantity" label="Quantity" inputMode="decimal" error={errorOf("message.quantity")} />
        <TextField
          name="unit_type"
          label="Unit"
          placeholder="input_tokens"
          error={errorOf("message.unit_type")}
        />
      </Pair>
      <Pair>
        <TextField
          name="estimated_cost"
          label="Cost in USD"
          inputMode="decimal"
          optional
          description="Left empty, it is priced."
          error={errorOf("message.estimated_cost")}
        />
        <TextField name="feature" label="Feature" optional error={errorOf("message.feature")} />
      </Pair>
    </>
  );
}

function Pair({ children }: { children: ReactNode }) {
  return <div className="grid grid-cols-2 items-start gap-3">{children}</div>;
}

function TextField({
  name,
  label,
  error,
  optional = false,
  description,
  ...input
}: {
  name: string;
  label: string;
  error: string | undefined;
  optional?: boolean;
  description?: string;
  placeholder?: string;
  defaultValue?: string;
  inputMode?: "decimal";
}) {
  return (
    <FormField label={label} optional={optional} description={description} error={error}>
      {(control) => <Input {...control} {...input} name={name} autoComplete="off" />}
    </FormField>
  );
}
