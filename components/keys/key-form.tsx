"use client";

import { useEffect, useRef, useState } from "react";
import { useProjectList } from "@/components/shell/use-project-list";
import { Checkbox } from "@/components/ui/checkbox";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import { ExpiryField } from "./expiry-field";
import type { KeyFormPart } from "./key-form-part";
import { type KeyForm, summarizeKeyForm } from "./key-form-state";
import { MoreLimits } from "./more-limits";
import { PermissionChoice } from "./permission-choice";
import { ProjectChoice } from "./project-choice";

/** The form of an API key. The sentence above the buttons says what the key will be allowed to do. */
export function KeyFormView({
  workspace,
  initial,
  isNew,
  grantable,
  submit,
  isPending,
  problem,
  fieldErrors,
  onChange,
  onSubmit,
}: {
  workspace: string;
  initial: KeyForm;
  /** True for a new key, whose environment can still be chosen. */
  isNew: boolean;
  /** The permissions that the signed-in member can grant. */
  grantable: readonly KeyPermission[];
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  /** Errors of fields, by the API's paths. */
  fieldErrors: Record<string, string>;
  /** Called when a field changes, so that errors of the previous attempt can be cleared. */
  onChange: () => void;
  onSubmit: (form: KeyForm) => void;
}) {
  const [form, setForm] = useState(initial);
  const name = useRef<HTMLInputElement>(null);
  const projects = useProjectList(workspace);
  const part: KeyFormPart = {
    form,
    change: (changes) => {
      setForm((current) => ({ ...current, ...changes }));
      onChange();
    },
    errors: fieldErrors,
  };
  useEffect(() => name.current?.focus(), []);

  return (
    <Form noValidate onSubmit={() => onSubmit(form)} className="flex grow flex-col gap-7">
      <TextField
        ref={name}
        label="What is its name?"
        error={fieldErrors.name}
        value={form.name}
        onChange={({ currentTarget }) => part.change({ name: currentTarget.value })}
        placeholder="Checkout service"
        maxLength={120}
        autoComplete="off"
      />
      <PermissionChoice {...part} grantable={grantable} />
      <ProjectChoice {...part} projects={projects} />
      <div className="grid gap-5">
        <TextField
          label="How much per month?"
          optional
          description={`US dollars in a UTC month. Costs that would exceed it are ${form.recordsPastLimit ? "recorded and marked" : "refused"}.`}
          error={fieldErrors.monthly_limit}
          value={form.monthlyLimit}
          onChange={({ currentTarget }) => part.change({ monthlyLimit: currentTarget.value })}
          placeholder="No limit"
          inputMode="decimal"
          autoComplete="off"
          className="sm:max-w-48"
        />
        {form.monthlyLimit === "" ? null : (
          <Checkbox
            label="Record costs past the limit"
            description="For programs that report calls after they were made. Alerts fire as they do otherwise."
            checked={form.recordsPastLimit}
            onChange={({ currentTarget }) => part.change({ recordsPastLimit: currentTarget.checked })}
          />
        )}
        <ExpiryField {...part} />
      </div>
      <MoreLimits {...part} projects={projects} isNew={isNew} />
      <div className="sticky -bottom-5 -mx-5 mt-auto -mb-5 grid gap-3 border-t bg-popover px-5 py-4 sm:-bottom-6 sm:-mx-6 sm:-mb-6 sm:px-6">
        <p role="status" className="text-sm">
          {summarizeKeyForm(form)}
        </p>
        <DialogFormFooter submit={submit} isPending={isPending} problem={problem} />
      </div>
    </Form>
  );
}
