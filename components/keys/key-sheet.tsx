"use client";

import type { ReactNode } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import type {
  apiKey,
  apiKeyWithSecret,
  createApiKeyRequest,
  editApiKeyRequest,
} from "@/lib/contract/access/api-keys";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import { CoveringBudgets } from "./covering-budgets";
import { KeyFormView } from "./key-form";
import { changedFields, type KeyForm, newKeyForm, parseKeyForm, toKeyForm } from "./key-form-state";
import { type KeyView, toKeyView } from "./key-view";
import { LimitRaise } from "./limit-raise";
import type { NewSecret } from "./secret-dialog";

type Props = {
  workspace: string;
  /** The permissions that the signed-in member can grant. */
  grantable: readonly KeyPermission[];
  onClose: () => void;
};

const check = (form: KeyForm) => parseKeyForm(form).errors;

/** Creates a key. @param props.onCreated receives the key with its secret, which cannot be read again */
export function NewKeySheet({ onCreated, ...props }: Props & { onCreated: (created: NewSecret) => void }) {
  const { run, reset, isPending, problem, fieldErrors } = useMutation(
    (form: KeyForm) =>
      callApi<typeof apiKeyWithSecret, typeof createApiKeyRequest>(
        "POST",
        `/api/v1/workspaces/${props.workspace}/api-keys`,
        { ...parseKeyForm(form).request, environment: form.environment },
      ),
    { check, quiet: true },
  );
  const create = async (form: KeyForm) => {
    const created = await run(form);
    if (created) onCreated({ apiKey: toKeyView(created), secret: created.secret });
  };
  return (
    <KeySheet title="Create a key" onClose={props.onClose}>
      <KeyFormView
        {...props}
        initial={newKeyForm}
        isNew
        submit="Create the key"
        isPending={isPending}
        problem={problem}
        fieldErrors={fieldErrors}
        onChange={reset}
        onSubmit={create}
      />
    </KeySheet>
  );
}

/** Changes what a key may do; its secret stays the same. */
export function EditKeySheet({ apiKey: key, ...props }: Props & { apiKey: KeyView }) {
  const initial = toKeyForm(key);
  const { run, reset, isPending, problem, fieldErrors } = useMutation(
    (form: KeyForm) =>
      callApi<typeof apiKey, typeof editApiKeyRequest>(
        "PATCH",
        `/api/v1/workspaces/${props.workspace}/api-keys/${key.id}`,
        changedFields(initial, form),
      ),
    { check, done: ({ name }) => `${name} is changed. Its secret is the same.`, quiet: true },
  );
  const save = async (form: KeyForm) => {
    if (await run(form)) props.onClose();
  };
  return (
    <KeySheet
      title={`Edit ${key.name}`}
      description="Changes apply to the key's next request. Its secret stays the same."
      onClose={props.onClose}
    >
      {key.monthly_limit === null ? null : <LimitRaise apiKey={key} workspace={props.workspace} />}
      {key.budgets ? <CoveringBudgets budgets={key.budgets} workspace={props.workspace} /> : null}
      <KeyFormView
        {...props}
        initial={initial}
        isNew={false}
        submit="Save"
        isPending={isPending}
        problem={problem}
        fieldErrors={fieldErrors}
        onChange={reset}
        onSubmit={save}
      />
    </KeySheet>
  );
}

function KeySheet({
  title,
  description,
  onClose,
  children,
}: {
  title: string;
  description?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent shape="right" guarded>
        <DialogHeader>
          <DialogTitle>{title}</DialogTitle>
          {description ? <DialogDescription>{description}</DialogDescription> : null}
        </DialogHeader>
        {children}
      </DialogContent>
    </Dialog>
  );
}
