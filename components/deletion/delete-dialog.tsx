"use client";

import { type ReactNode, useState, useTransition } from "react";
import { Problem } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { codeField } from "@/components/second-factor/second-factor";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { toastProblem } from "@/components/ui/toaster";

/** How the user proves their identity: with a code of an authenticator, or with the password if they have none. */
export type Proof = {
  /** Reads the authenticators when the dialog opens. */
  list: () => Promise<Authenticator[]>;
  prove: (secret: string, factorId?: string) => Promise<{ error?: string }>;
};

type Authenticator = { id: string; name: string };

type Deletion = {
  /** The label of the button that opens the dialog and of the button in it that deletes. */
  label: string;
  /** A question that names the thing: "Delete Acme?" */
  title: string;
  /** What will happen, and until when it can be undone. */
  children: ReactNode;
  /** The text that the user types to confirm, such as the name of the workspace. The next field says what it is. */
  expected: string;
  expectedLabel: string;
  proof: Proof;
  /** Deletes. @param typed what the user typed @throws Problem with what to do about it */
  onDelete: (typed: string) => Promise<void>;
};

/** A button that deletes something important after the user has typed its name and proved their identity. */
export function DeleteButton(deletion: Deletion) {
  const [isOpen, setOpen] = useState(false);
  const [authenticators, setAuthenticators] = useState<Authenticator[]>([]);
  const [isOpening, startOpening] = useTransition();
  const open = () =>
    startOpening(async () => {
      try {
        setAuthenticators(await deletion.proof.list());
        setOpen(true);
      } catch {
        toastProblem("The service could not be reached. Try again in a moment.");
      }
    });
  return (
    <>
      <Button
        variant="outline"
        aria-haspopup="dialog"
        // Not disabled, which would lose the focus.
        aria-busy={isOpening}
        onClick={isOpening ? undefined : open}
        className="justify-self-start"
      >
        {deletion.label}
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent className="sm:max-w-md">
          <DeletionForm {...deletion} authenticators={authenticators} />
        </DialogContent>
      </Dialog>
    </>
  );
}

function DeletionForm({
  label,
  title,
  children,
  expected,
  expectedLabel,
  proof,
  onDelete,
  authenticators,
}: Deletion & { authenticators: Authenticator[] }) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    async (typed: string, secret: string, factorId: string) => {
      const { error } = await proof.prove(secret, factorId);
      if (error) throw new Problem(error);
      await onDelete(typed);
      return true;
    },
    {
      quiet: true,
      refresh: false,
      check: (typed): Record<string, string> => (typed === expected ? {} : { typed: `must be ${expected}` }),
    },
  );
  const submit = (fields: FormData) =>
    run(
      textOf(fields, "typed"),
      String(fields.get("password") ?? fields.get("code") ?? ""),
      textOf(fields, "factor"),
    );
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <DialogHeader>
        <DialogTitle>{title}</DialogTitle>
        <DialogDescription>{children}</DialogDescription>
      </DialogHeader>
      <TextField
        label={expectedLabel}
        description={
          <>
            Type <strong className="break-words font-medium text-foreground">{expected}</strong> to confirm.
          </>
        }
        error={fieldErrors.typed ?? fieldErrors.name ?? fieldErrors.email}
        name="typed"
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
      />
      {authenticators.length > 1 ? (
        <FormField label="Code from">
          {(control) => (
            <Select {...control} name="factor">
              {authenticators.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </FormField>
      ) : null}
      {authenticators.length > 0 ? (
        <TextField
          label="Code"
          description="The six digits that your authenticator app shows now."
          {...codeField}
        />
      ) : (
        <TextField
          label="Your password"
          type="password"
          name="password"
          required
          autoComplete="current-password"
        />
      )}
      <DialogFormFooter submit={label} isPending={isPending} problem={problem} destructive />
    </Form>
  );
}
