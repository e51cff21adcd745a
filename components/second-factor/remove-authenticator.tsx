"use client";

import { useState } from "react";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { AppCodeField } from "./app-code-field";
import { type FactorView, type SecondFactorActions, unwrap } from "./second-factor";

type Props = { factor: FactorView; factors: FactorView[]; actions: SecondFactorActions };

/** A button that removes an authenticator. The dialog asks for a code from it, or from another authenticator of the user. */
export function RemoveAuthenticator(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="outline"
        size="sm"
        aria-haspopup="dialog"
        aria-label={`Remove ${props.factor.name}`}
        onClick={() => setOpen(true)}
      >
        Remove
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent className="sm:max-w-md">
          <RemovalForm {...props} onDone={() => setOpen(false)} />
        </DialogContent>
      </Dialog>
    </>
  );
}

function RemovalForm({ factor, factors, actions, onDone }: Props & { onDone: () => void }) {
  const { run, isPending, problem } = useMutation(
    (by: string, code: string) => unwrap(actions.remove(factor.id, by, code)),
    { done: "The authenticator is removed.", quiet: true },
  );
  const submit = async (fields: FormData) => {
    if (await run(textOf(fields, "by") || factor.id, textOf(fields, "code"))) onDone();
  };
  const isLast = factors.length === 1;
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <DialogHeader>
        <DialogTitle>Remove {factor.name}?</DialogTitle>
        <DialogDescription>
          {isLast
            ? "This is your only authenticator. Without it, signing in no longer asks for a code, your recovery codes are deleted, and you cannot open workspaces that require two-factor authentication. If you have lost it, add another one first."
            : "Its codes will no longer be accepted."}
        </DialogDescription>
      </DialogHeader>
      {isLast ? null : (
        <FormField label="Code from">
          {(control) => (
            <Select {...control} name="by" defaultValue={factor.id}>
              {factors.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </FormField>
      )}
      <AppCodeField />
      <DialogFormFooter submit="Remove" isPending={isPending} problem={problem} destructive />
    </Form>
  );
}
