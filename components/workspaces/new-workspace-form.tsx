"use client";

import { useRouter } from "next/navigation";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { membership } from "@/lib/contract/access/me";
import type { createWorkspaceRequest } from "@/lib/contract/access/workspaces";

/** Creates a workspace and opens it. Without an address, the API derives one from the name. */
export function NewWorkspaceForm() {
  const router = useRouter();
  const { run, isPending, problem, fieldErrors } = useMutation(
    (name: string, slug: string) =>
      callApi<typeof membership, typeof createWorkspaceRequest>("POST", "/api/v1/workspaces", {
        name,
        ...(slug && { slug }),
      }),
    { quiet: true, refresh: false },
  );
  const submit = async (fields: FormData) => {
    const created = await run(textOf(fields, "name"), textOf(fields, "slug"));
    if (created) router.push(`/${created.slug}`);
  };
  return (
    <Form onSubmit={submit} className="grid gap-4">
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <TextField
        label="Name"
        error={fieldErrors.name}
        name="name"
        required
        maxLength={120}
        autoComplete="organization"
        autoFocus
      />
      <TextField
        label="Address"
        optional
        error={fieldErrors.slug}
        description="Lower-case letters, digits and dashes. Leave empty to derive it from the name. It cannot be changed later."
        name="slug"
        maxLength={63}
        autoCapitalize="none"
        spellCheck={false}
      />
      <Button type="submit" disabled={isPending} className="h-10 sm:h-9">
        Create the workspace
      </Button>
    </Form>
  );
}
