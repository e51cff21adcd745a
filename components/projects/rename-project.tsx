"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { project as projectSchema, updateProjectRequest } from "@/lib/contract/spend/projects";

type Props = { workspace: string; slug: string; name: string; onClose: () => void };

/** The dialog that changes a project's name. */
export function RenameProject({ open, ...props }: Props & { open: boolean }) {
  return (
    <Dialog open={open} onOpenChange={props.onClose}>
      <DialogContent className="sm:max-w-md">
        <RenameForm {...props} />
      </DialogContent>
    </Dialog>
  );
}

function RenameForm({ workspace, slug, name, onClose }: Props) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (next: string) =>
      callApi<typeof projectSchema, typeof updateProjectRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/projects/${slug}`,
        { name: next },
      ),
    { done: "The project is renamed.", quiet: true },
  );
  const submit = async (fields: FormData) => {
    if (await run(textOf(fields, "name"))) onClose();
  };
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <DialogHeader>
        <DialogTitle>Rename project</DialogTitle>
        <DialogDescription>
          Only the displayed name changes. Messages keep using <code className="font-mono">{slug}</code>.
        </DialogDescription>
      </DialogHeader>
      <TextField
        label="Name"
        error={fieldErrors.name}
        name="name"
        defaultValue={name}
        required
        maxLength={120}
      />
      <DialogFormFooter submit="Rename" isPending={isPending} problem={problem} />
    </Form>
  );
}
