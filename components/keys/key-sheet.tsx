"use client";

import { callApi } from "@/components/api";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import type {
  apiKey,
  apiKeyWithSecret,
  createApiKeyRequest,
  editApiKeyRequest,
} from "@/lib/contract/api-keys";
import type { Permission } from "@/lib/contract/permissions";
import { KeyFormView } from "./key-form";
import { changedFields, formOf, type KeyForm, newKeyForm, readKeyForm } from "./key-form-state";
import { type KeyView, viewKey } from "./key-view";
import type { NewSecret } from "./secret-dialog";

type Props = {
  workspace: string;
  grantable: readonly Permission[];
  onClose: () => void;
};

/** Makes a key. @param props.onMade gets its secret, which is nowhere else */
export function NewKeySheet({ onMade, ...props }: Props & { onMade: (made: NewSecret) => void }) {
  const creation = useMutation(
    (form: KeyForm) =>
      callApi<typeof apiKeyWithSecret, typeof createApiKeyRequest>(
        "POST",
        `/api/v1/workspaces/${props.workspace}/api-keys`,
        { ...readKeyForm(form).request, environment: form.environment },
      ),
    { quiet: true },
  );
  const make = async (form: KeyForm) => {
    const made = await creation.run(form);
    if (made) onMade({ apiKey: viewKey(made), secret: made.secret });
  };
  return (
    <Sheet title="Make a key" onClose={props.onClose}>
      <KeyFormView
        {...props}
        initial={newKeyForm}
        isNew
        submit="Make the key"
        isPending={creation.isPending}
        problem={creation.problem}
        errors={creation.fieldErrors}
        onSubmit={make}
      />
    </Sheet>
  );
}

/** Changes what a key may do; its secret stays. */
export function EditKeySheet({ apiKey: key, ...props }: Props & { apiKey: KeyView }) {
  const initial = formOf(key);
  const edit = useMutation(
    (form: KeyForm) =>
      callApi<typeof apiKey, typeof editApiKeyRequest>(
        "PATCH",
        `/api/v1/workspaces/${props.workspace}/api-keys/${key.id}`,
        changedFields(initial, form),
      ),
    { quiet: true },
  );
  const save = async (form: KeyForm) => {
    if (!(await edit.run(form))) return;
    toast(`${form.name.trim()} is changed; its secret is the same.`);
    props.onClose();
  };
  return (
    <Sheet
      title={`Edit ${key.name}`}
      description="It holds for the next request made with the key. Its secret stays as it is."
      onClose={props.onClose}
    >
      <KeyFormView
        {...props}
        initial={initial}
        isNew={false}
        submit="Save"
        isPending={edit.isPending}
        problem={edit.problem}
        errors={edit.fieldErrors}
        onSubmit={save}
      />
    </Sheet>
  );
}

function Sheet({
  title,
  description,
  onClose,
  children,
}: {
  title: string;
  description?: string;
  onClose: () => void;
  children: React.ReactNode;
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
