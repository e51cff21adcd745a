"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Form, textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import type { Membership, membership } from "@/lib/contract/access/me";
import type { updateWorkspaceRequest } from "@/lib/contract/access/workspaces";

type Changes = { name: string; description: string | null; base_currency: string };

const currencyNames = new Intl.DisplayNames("en-US", { type: "currency" });

/** Edits a workspace's name, description and currency. @param props.currencies ISO 4217 codes */
export function WorkspaceForm({ workspace, currencies }: { workspace: Membership; currencies: string[] }) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (changes: Changes) =>
      callApi<typeof membership, typeof updateWorkspaceRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace.slug}`,
        changes,
      ),
    { done: "The workspace is changed.", quiet: true },
  );
  const submit = (fields: FormData) =>
    run({
      name: textOf(fields, "name"),
      description: textOf(fields, "description") || null,
      base_currency: textOf(fields, "base_currency"),
    });
  return (
    <Form onSubmit={submit} className="grid max-w-xl gap-5">
      <TextField
        label="Name"
        error={fieldErrors.name}
        name="name"
        defaultValue={workspace.name}
        required
        maxLength={120}
      />
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
        description="Costs are recorded in US dollars. Each member can see amounts in this currency, too, under Your account."
        error={fieldErrors.base_currency}
      >
        {(control) => (
          <Select {...control} name="base_currency" defaultValue={workspace.base_currency}>
            {currencies.map((code) => (
              // The server and the browser may have different names for a currency.
              <option key={code} value={code} suppressHydrationWarning>
                {`${code}, ${currencyNames.of(code)}`}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <Button type="submit" disabled={isPending} className="justify-self-start">
        Save
      </Button>
    </Form>
  );
}
