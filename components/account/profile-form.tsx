"use client";

import type { FormEvent } from "react";
import { callApi } from "@/components/api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { CurrentUser, currentUser, updateMeRequest } from "@/lib/contract/me";

/** What others call the signed-in user, and where they land after signing in. */
export function ProfileForm({
  profile,
  workspaces,
}: {
  profile: CurrentUser["profile"];
  workspaces: { id: string; name: string }[];
}) {
  const { run, isPending, formProblem, fieldErrors } = useMutation(
    (changes: { display_name: string | null; default_workspace_id: string | null }) =>
      callApi<typeof currentUser, typeof updateMeRequest>("PATCH", "/api/v1/me", changes),
    { done: "Your account is changed.", quiet: true },
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    await run({
      display_name: String(form.get("name")).trim() || null,
      default_workspace_id: String(form.get("workspace")) || null,
    });
  };
  return (
    <form onSubmit={submit} className="grid gap-5">
      <FormField
        label="Name"
        description="What others read beside what you do. Left empty, they read your address."
        error={fieldErrors.display_name}
      >
        {(control) => (
          <Input
            {...control}
            name="name"
            defaultValue={profile.display_name ?? ""}
            maxLength={120}
            autoComplete="name"
          />
        )}
      </FormField>
      <FormField
        label="Workspace to begin in"
        description="Where you land after signing in."
        error={fieldErrors.default_workspace_id}
      >
        {(control) => (
          <Select {...control} name="workspace" defaultValue={profile.default_workspace_id ?? ""}>
            <option value="">The first by name</option>
            {workspaces.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {formProblem ? <Alert variant="destructive">{formProblem}</Alert> : null}
      <Button type="submit" disabled={isPending} className="justify-self-start max-sm:h-10">
        Save
      </Button>
    </form>
  );
}
