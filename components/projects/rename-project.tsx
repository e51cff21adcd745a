"use client";

import type { FormEvent } from "react";
import { callApi } from "@/components/api";
import { Button } from "@/components/ui/button";
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
import { useMutation } from "@/components/use-mutation";
import type { project as projectSchema, updateProjectRequest } from "@/lib/contract/projects";

type Props = { workspace: string; slug: string; name: string; onClose: () => void };

/** Asks for a project's new name. */
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
  const { run, isPending, problem } = useMutation(
    (next: string) =>
      callApi<typeof projectSchema, typeof updateProjectRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/projects/${slug}`,
        { name: next },
      ),
    { done: "The project is renamed.", quiet: true },
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const next = String(new FormData(event.currentTarget).get("name")).trim();
    if (await run(next)) onClose();
  };
  return (
    <form onSubmit={submit} className="grid gap-5">
      <DialogHeader>
        <DialogTitle>Rename project</DialogTitle>
        <DialogDescription>
          Messages go on naming it <code className="font-mono">{slug}</code>; only what people read changes.
        </DialogDescription>
      </DialogHeader>
      <FormField label="Name" error={problem}>
        {(control) => <Input {...control} name="name" defaultValue={name} required maxLength={120} />}
      </FormField>
      <DialogFooter>
        <DialogClose>Cancel</DialogClose>
        <Button type="submit" disabled={isPending}>
          Rename
        </Button>
      </DialogFooter>
    </form>
  );
}
