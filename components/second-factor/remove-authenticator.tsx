"use client";

import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { Alert } from "@/components/ui/alert";
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
import { Select } from "@/components/ui/select";
import { toast } from "@/components/ui/toaster";
import { codeField, type FactorView, type SecondFactorActions } from "./second-factor";

/** Removes an authenticator for whoever gives a code of it, or of another one they have. */
export function RemoveAuthenticator({
  factor,
  factors,
  actions,
}: {
  factor: FactorView;
  factors: FactorView[];
  actions: SecondFactorActions;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="outline"
        size="sm"
        aria-haspopup="dialog"
        aria-label={`Remove ${factor.name}`}
        onClick={() => setOpen(true)}
      >
        Remove
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent className="sm:max-w-md">
          <Question factor={factor} factors={factors} actions={actions} onDone={() => setOpen(false)} />
        </DialogContent>
      </Dialog>
    </>
  );
}

function Question({
  factor,
  factors,
  actions,
  onDone,
}: {
  factor: FactorView;
  factors: FactorView[];
  actions: SecondFactorActions;
  onDone: () => void;
}) {
  const router = useRouter();
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setPending(true);
    setProblem(undefined);
    try {
      const by = String(form.get("by") ?? factor.id);
      const answer = await actions.remove(factor.id, by, String(form.get("code")));
      if ("error" in answer) return setProblem(answer.error);
      toast("The authenticator is removed.");
      onDone();
      router.refresh();
    } catch {
      setProblem("That did not work. Try again in a moment.");
    } finally {
      setPending(false);
    }
  };
  const isLast = factors.length === 1;
  return (
    <form onSubmit={submit} className="grid gap-5">
      <DialogHeader>
        <DialogTitle>Remove {factor.name}?</DialogTitle>
        <DialogDescription>
          {isLast
            ? "It is your only one: signing in asks for no code any more, your recovery codes go with it, and workspaces that require a code are closed to you. If you have lost it, add another one first."
            : "Its codes are worth nothing any more."}
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
      <FormField label="Code" description="The six digits that the app shows now.">
        {(control) => <Input {...control} {...codeField} autoFocus className="max-w-40 font-mono" />}
      </FormField>
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <DialogFooter>
        <DialogClose type="button">Cancel</DialogClose>
        <Button type="submit" variant="destructive" disabled={isPending}>
          Remove
        </Button>
      </DialogFooter>
    </form>
  );
}
