"use client";

import type { FormEvent } from "react";
import { callApi } from "@/components/api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import { useMutation } from "@/components/use-mutation";
import type { Membership, membership } from "@/lib/contract/me";
import type { updateWorkspaceRequest } from "@/lib/contract/workspaces";

type Changes = { name: string; description: string | null; base_currency: string };

const currencyNames = new Intl.DisplayNames("en-US", { type: "currency" });

/** What a workspace is called and about. Its address stays for good. */
export function WorkspaceForm({ workspace, currencies }: { workspace: Membership; currencies: string[] }) {
  const { run, isPending, formProblem, fieldErrors } = useMutation(
    (changes: Changes) =>
      callApi<typeof membership, typeof updateWorkspaceRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace.slug}`,
        changes,
      ),
    { done: "The workspace is changed.", quiet: true },
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const textOf = (name: keyof Changes) => String(form.get(name)).trim();
    await run({
      name: textOf("name"),
      description: textOf("description") || null,
      base_currency: textOf("base_currency"),
    });
  };
  return (
    <form onSubmit={submit} className="grid max-w-xl gap-5">
      <FormField label="Name" error={fieldErrors.name}>
        {(control) => (
          <Input {...control} name="name" defaultValue={workspace.name} required maxLength={120} />
        )}
      </FormField>
      <FormField label="Description" optional error={fieldErrors.description}>
        {(control) => (
          <Textarea
            {...control}
            name="description"
            defaultValue={workspace.description ?? ""}
            maxLength={1000}
          />
        )}
      </FormField>
      <FormField
        label="Currency"
        description="What the team thinks in, for programs that read the workspace. Costs and budgets are kept in US dollars."
        error={fieldErrors.base_currency}
      >
        {(control) => (
          <Select {...control} name="base_currency" defaultValue={workspace.base_currency}>
            {currencies.map((code) => (
              // A server's and a browser's tables of names differ.
              <option key={code} value={code} suppressHydrationWarning>
                {`${code}, ${currencyNames.of(code)}`}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {formProblem ? <Alert variant="destructive">{formProblem}</Alert> : null}
      <Button type="submit" disabled={isPending} className="justify-self-start">
        Save
      </Button>
    </form>
  );
}
