"use client";

import { useRouter } from "next/navigation";
import type { FormEvent } from "react";
import { callApi } from "@/components/api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { useMutation } from "@/components/use-mutation";
import type { membership } from "@/lib/contract/me";
import type { createWorkspaceRequest } from "@/lib/contract/workspaces";

const fields = ["name", "slug"] as const;

/** Asks for a name, and for an address where the one made of the name is not wanted; leads to the new workspace. */
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
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const made = await run(String(form.get("name")).trim(), String(form.get("slug")).trim());
    if (made) router.push(`/${made.slug}`);
  };
  const isOfNoField = problem && !fields.some((field) => fieldErrors[field]);
  return (
    <form onSubmit={submit} className="grid gap-4">
      {isOfNoField ? <Alert variant="destructive">{problem}</Alert> : null}
      <FormField label="Name" error={fieldErrors.name}>
        {(control) => (
          <Input {...control} name="name" required maxLength={120} autoComplete="organization" autoFocus />
        )}
      </FormField>
      <FormField
        label="Address"
        optional
        error={fieldErrors.slug}
        description="Lower-case letters, digits and dashes; made of the name if you leave it out. It stays for good."
      >
        {(control) => (
          <Input {...control} name="slug" maxLength={63} autoCapitalize="none" spellCheck={false} />
        )}
      </FormField>
      <Button type="submit" disabled={isPending} className="h-10 sm:h-9">
        Make the workspace
      </Button>
    </form>
  );
}
