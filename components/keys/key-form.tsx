"use client";

import { type FormEvent, useEffect, useRef, useState } from "react";
import { useProjectList } from "@/components/shell/use-project-list";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { DialogClose, DialogFooter } from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import type { Permission } from "@/lib/contract/permissions";
import { ExpiryField } from "./expiry-field";
import type { KeyFormPart } from "./key-form-part";
import { describeKeyForm, type KeyForm, readKeyForm } from "./key-form-state";
import { MoreLimits } from "./more-limits";
import { PermissionChoice } from "./permission-choice";
import { ProjectChoice } from "./project-choice";

/**
 * A key, asked for as one would in a conversation: what for, what it may do, where, how much and until when. The sentence
 * at the end says in words what it comes to.
 * @param props.isNew whether it may still be decided which data it is for
 * @param props.errors what the API says is wrong, by its paths
 * @param props.onSubmit is called with a form that can be sent
 */
export function KeyFormView({
  workspace,
  initial,
  isNew,
  grantable,
  submit,
  isPending,
  problem,
  errors: refused,
  onSubmit,
}: {
  workspace: string;
  initial: KeyForm;
  isNew: boolean;
  grantable: readonly Permission[];
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  errors: Record<string, string>;
  onSubmit: (form: KeyForm) => void;
}) {
  const [form, setForm] = useState(initial);
  const [unsent, setUnsent] = useState<Record<string, string>>({});
  const errors = { ...refused, ...unsent };
  const element = useRef<HTMLFormElement>(null);
  const projects = useProjectList(workspace);
  const part: KeyFormPart = {
    form,
    change: (changes) => {
      setForm((now) => ({ ...now, ...changes }));
      setUnsent({});
    },
    errors,
  };

  useEffect(() => element.current?.querySelector("input")?.focus(), []);

  // To the first field that something is wrong with, once it is marked; not while somebody is typing.
  const isSent = useRef(false);
  const marked = Object.keys(errors).join();
  useEffect(() => {
    if (!marked || !isSent.current) return;
    isSent.current = false;
    element.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [marked]);

  const send = (event: FormEvent) => {
    event.preventDefault();
    isSent.current = true;
    const found = readKeyForm(form).errors;
    setUnsent(found);
    if (Object.keys(found).length === 0) onSubmit(form);
  };

  return (
    <form ref={element} noValidate onSubmit={send} className="flex grow flex-col gap-7">
      <FormField label="What is it called?" error={errors.name}>
        {(control) => (
          <Input
            {...control}
            value={form.name}
            onChange={({ currentTarget }) => part.change({ name: currentTarget.value })}
            placeholder="Checkout service"
            maxLength={120}
            autoComplete="off"
          />
        )}
      </FormField>
      <PermissionChoice {...part} grantable={grantable} />
      <ProjectChoice {...part} projects={projects} />
      <div className="grid gap-5">
        <FormField
          label="How much a month?"
          optional
          description="US dollars in a UTC month. What would pass it is refused."
          error={errors.monthly_limit}
        >
          {(control) => (
            <Input
              {...control}
              value={form.monthlyLimit}
              onChange={({ currentTarget }) => part.change({ monthlyLimit: currentTarget.value })}
              placeholder="No limit"
              inputMode="decimal"
              autoComplete="off"
              className="sm:max-w-48"
            />
          )}
        </FormField>
        <ExpiryField {...part} />
      </div>
      <MoreLimits {...part} projects={projects} isNew={isNew} />
      <div className="sticky -bottom-5 -mx-5 mt-auto -mb-5 grid gap-3 border-t bg-popover px-5 py-4 sm:-bottom-6 sm:-mx-6 sm:-mb-6 sm:px-6">
        {problem && Object.keys(errors).length === 0 ? <Alert variant="destructive">{problem}</Alert> : null}
        <p role="status" className="text-sm">
          {describeKeyForm(form)}
        </p>
        <DialogFooter>
          <DialogClose>Cancel</DialogClose>
          <Button type="submit" disabled={isPending}>
            {submit}
          </Button>
        </DialogFooter>
      </div>
    </form>
  );
}
