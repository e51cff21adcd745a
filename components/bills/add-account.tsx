"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { DateInput } from "@/components/ui/date-input";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import type { addProviderAccountRequest, providerAccount } from "@/lib/contract/bills/provider-accounts";
import {
  accountOf,
  folderOf,
  type PulledProvider,
  pulledProviders,
} from "@/lib/contract/bills/pulled-providers";

/** A button that opens the form to add a provider account, whose costs are then pulled. */
export function AddAccount({ workspace }: { workspace: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Add a provider
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent>
          <DialogHeader>
            <DialogTitle>Add a provider</DialogTitle>
            <DialogDescription>
              Its costs are pulled every day. The key is stored encrypted, and nobody can see it again.
            </DialogDescription>
          </DialogHeader>
          <AccountForm workspace={workspace} close={() => setOpen(false)} />
        </DialogContent>
      </Dialog>
    </>
  );
}

function AccountForm({ workspace, close }: { workspace: string; close: () => void }) {
  const [provider, setProvider] = useState<PulledProvider>("openai");
  const { key, keyBegins, keysAt, rights } = pulledProviders[provider];
  const account = accountOf(provider);
  const folder = folderOf(provider);
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) => {
      const textOf = (name: string) => String(fields.get(name) ?? "").trim();
      const since = textOf("since");
      return callApi<typeof providerAccount, typeof addProviderAccountRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/provider-accounts`,
        {
          ...{ provider, key: textOf("key"), account: textOf("account") },
          ...(since && { since }),
          ...(folderOf(provider) && { folder: textOf("folder") }),
        },
      );
    },
    {
      quiet: true,
      check: (fields): Record<string, string> =>
        String(fields.get("key") ?? "").trim() === "" ? { key: "is required" } : {},
      done: "The provider is added, and is pulled now.",
    },
  );
  return (
    <Form
      onSubmit={async (fields) => {
        if (await run(fields)) close();
      }}
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
    >
      <FormField label="Provider" error={fieldErrors.provider}>
        {(control) => (
          <Select
            {...control}
            value={provider}
            onChange={(event) => setProvider(event.target.value as PulledProvider)}
          >
            {Object.entries(pulledProviders).map(([id, { label }]) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {folder ? (
        <FormField
          label="Folder with exports"
          error={fieldErrors.folder}
          description="The address of the folder of the export, which has its manifest and its files, as CSV or Parquet."
        >
          {(control) => (
            <Input
              {...control}
              name="folder"
              type="url"
              placeholder={folder.example}
              maxLength={500}
              autoComplete="off"
            />
          )}
        </FormField>
      ) : null}
      <FormField
        label={key}
        error={fieldErrors.key}
        description={
          <>
            {rights} Keys are made at{" "}
            <a href={keysAt} target="_blank" rel="noreferrer" className="underline underline-offset-4">
              {new URL(keysAt).hostname}
            </a>
            .
          </>
        }
      >
        {(control) => (
          <Input
            {...control}
            name="key"
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder={`${keyBegins}…`}
            maxLength={1000}
          />
        )}
      </FormField>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <FormField
          label={account ? "Organization" : "Account"}
          optional={account === undefined}
          error={fieldErrors.account}
          description={account ?? "A name, if you add several of this provider."}
        >
          {(control) => <Input {...control} name="account" maxLength={128} autoComplete="off" />}
        </FormField>
        <FormField
          label="First day"
          optional
          error={fieldErrors.since}
          description="A year ago, unless you choose another. Days on which nothing was recorded are shown as billed history."
        >
          {(control) => <DateInput {...control} name="since" />}
        </FormField>
      </div>
      <DialogFormFooter
        submit={isPending ? "Adding" : "Add the provider"}
        isPending={isPending}
        problem={problem}
      />
    </Form>
  );
}
