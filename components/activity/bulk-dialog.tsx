"use client";

import { useEffect, useState } from "react";
import { formatCount } from "@/components/figures/format-count";
import { Problem } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import { Alert } from "@/components/ui/alert";
import { Combobox } from "@/components/ui/combobox";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import type { BulkAction } from "@/lib/contract/spend/bulk-actions";
import { type BulkRequest, changeBulk, previewBulk, undoBulk } from "./bulk-action";
import { changeOf, type Typed } from "./bulk-change";
import { BulkPreview } from "./bulk-preview";
import { ReasonField, requireReason, undoable } from "./void-dialog";
import { newAttempt } from "./void-message";

/** The kinds of bulk actions. */
export type BulkKind = "void" | "move" | "tags" | "amount";

const texts: Record<
  BulkKind,
  { title: string; about: string; submit: string; pending: string; done: string }
> = {
  void: {
    title: "Void these costs",
    about: "They stay in the list, marked as voided, and count in no total, budget or export.",
    submit: "Void",
    pending: "Voiding",
    done: "Voided",
  },
  move: {
    title: "Move to another project",
    about:
      "Each cost is voided and recorded again in the other project, with its amount, price and key as they were.",
    submit: "Move",
    pending: "Moving",
    done: "Moved",
  },
  tags: {
    title: "Change tags and feature",
    about:
      "Each cost is voided and recorded again with these names, with its amount, price and key as they were.",
    submit: "Change",
    pending: "Changing",
    done: "Changed",
  },
  amount: {
    title: "Correct the amounts",
    about:
      "Each cost is voided and recorded again with its amount multiplied. 0.01 turns cents into dollars.",
    submit: "Correct",
    pending: "Correcting",
    done: "Corrected",
  },
};

/**
 * Changes the selected costs, after a preview of the effects. States: nothing to preview yet, loading, the preview, and a problem that
 * prevents the change.
 * @param props.target the messages, or the filters that they match
 */
export default function BulkDialog({
  workspace,
  kind,
  target,
  onClose,
  onDone,
}: {
  workspace: string;
  kind: BulkKind;
  target: Pick<BulkRequest, "messages" | "filters">;
  onClose: () => void;
  onDone: () => void;
}) {
  const [typed, setTyped] = useState<Typed>({});
  const [attempt, setAttempt] = useState(newAttempt);
  const text = texts[kind];
  const set = kind === "void" ? undefined : changeOf(typed);
  const isReady = kind === "void" || (set !== undefined && Object.keys(set).length > 0);
  const preview = usePreview(
    workspace,
    isReady ? { action: kind === "void" ? "void" : "correct", ...target, ...(set && { set }) } : undefined,
  );
  const { run, isPending, problem, fieldErrors } = useMutation(changeBulk, {
    quiet: true,
    check: (_workspace, { reason }) => requireReason(reason),
    done: (answer) => `${text.done} ${formatCount(answer.message_count, "cost")}.`,
    undo: (answer) => ({
      run: () => undoBulk(workspace, answer.id ?? ""),
      done: "Undone. Every total is as it was before.",
    }),
  });
  const submit = async (fields: FormData) => {
    const { answer, request } = preview;
    if (!answer?.messages || !request) return;
    const done = await run(workspace, {
      action: request.action,
      ...(request.set && { set: request.set }),
      messages: answer.messages,
      reason: String(fields.get("reason") ?? "").trim(),
      idempotency_key: attempt,
    });
    // The next attempt needs another idempotency key, because its values may differ.
    if (!done) return setAttempt(newAttempt());
    onDone();
  };
  const change = (more: Typed) => setTyped((before) => ({ ...before, ...more }));
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <DialogHeader>
          <DialogTitle>{text.title}</DialogTitle>
          <DialogDescription>
            {text.about} {undoable}
          </DialogDescription>
        </DialogHeader>
        <Form onSubmit={submit} noValidate className="grid gap-4">
          <ChangeFields
            workspace={workspace}
            kind={kind}
            typed={typed}
            onChange={change}
            errors={preview.fieldErrors}
          />
          <div aria-live="polite" className="grid gap-3">
            {preview.problem ? <Alert variant="destructive">{preview.problem}</Alert> : null}
            {preview.isPending ? (
              <p className="text-muted-foreground text-sm">Working out what changes…</p>
            ) : null}
            {preview.answer ? <BulkPreview preview={preview.answer} /> : null}
          </div>
          <ReasonField error={fieldErrors.reason} />
          <DialogFormFooter
            submit={
              isPending
                ? text.pending
                : `${text.submit}${preview.answer ? ` ${formatCount(preview.answer.message_count, "cost")}` : ""}`
            }
            isPending={isPending || !preview.answer}
            problem={problem ?? Object.entries(fieldErrors).find(([name]) => name !== "reason")?.[1]}
            destructive={kind === "void"}
          />
        </Form>
      </DialogContent>
    </Dialog>
  );
}

function ChangeFields({
  workspace,
  kind,
  typed,
  onChange,
  errors,
}: {
  workspace: string;
  kind: BulkKind;
  typed: Typed;
  onChange: (more: Typed) => void;
  errors: Record<string, string>;
}) {
  const field = (
    name: keyof Typed,
    label: string,
    placeholder: string,
    more: { error?: string | undefined; description?: string } = {},
  ) => (
    <FormField label={label} description={more.description} error={more.error}>
      {(control) => (
        <Input
          {...control}
          value={typed[name] ?? ""}
          placeholder={placeholder}
          inputMode={name === "factor" ? "decimal" : "text"}
          onChange={({ currentTarget: { value } }) => onChange({ [name]: value })}
        />
      )}
    </FormField>
  );
  if (kind === "move")
    return (
      <ProjectField
        workspace={workspace}
        project={typed.project}
        onChange={onChange}
        error={errors["set.project"]}
      />
    );
  if (kind === "amount")
    return field("factor", "Multiply amounts by", "0.01", { error: errors["set.multiply_by"] });
  if (kind === "void") return null;
  const tagError = Object.entries(errors).find(([name]) => name.startsWith("set.add_tags"))?.[1];
  return (
    <>
      {field("added", "Add tags", "team:growth, env:prod", {
        error: tagError,
        description: "Each name:value, with commas between. A tag that is there gets the new value.",
      })}
      {field("removed", "Remove tags", "team, env", { description: "By their names." })}
      {field("feature", "Feature", "As it is", { error: errors["set.feature"] })}
    </>
  );
}

function ProjectField({
  workspace,
  project,
  onChange,
  error,
}: {
  workspace: string;
  project: string | undefined;
  onChange: (more: Typed) => void;
  error: string | undefined;
}) {
  const projects = useProjectList(workspace);
  return (
    <FormField label="Project" error={error}>
      {(control) => (
        <Combobox
          {...control}
          options={projects.map((one) => toProjectOption(one, "slug"))}
          value={project ? [project] : []}
          onChange={([chosen]) => onChange({ project: chosen })}
          limit={1}
          placeholder="checkout"
        />
      )}
    </FormField>
  );
}

/** The pause in typing after which the preview is read. */
const pauseMs = 350;

type Shown = { key: string; answer?: BulkAction; problem?: string; fieldErrors: Record<string, string> };

/** Reads the preview of a request, again whenever the request changes. Without a request there is no preview. */
function usePreview(workspace: string, request: BulkRequest | undefined) {
  const key = JSON.stringify(request) ?? "";
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    if (key === "") return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      previewBulk(workspace, JSON.parse(key), abort.signal).then(
        (answer) => setShown({ key, answer, fieldErrors: {} }),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          const fields = error instanceof Problem && "fieldErrors" in error ? error.fieldErrors : {};
          const fieldErrors = fields as Record<string, string>;
          const isOfField = Object.keys(fieldErrors).some((name) => name.startsWith("set."));
          const problem =
            error instanceof Problem ? error.message : "This could not be worked out. Try again.";
          setShown({ key, fieldErrors, ...(!isOfField && { problem }) });
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [workspace, key]);
  const current = shown?.key === key ? shown : undefined;
  return {
    request,
    answer: current?.answer,
    problem: current?.problem,
    fieldErrors: current?.fieldErrors ?? {},
    isPending: key !== "" && !current,
  };
}
