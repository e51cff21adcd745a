"use client";

import { type FormEvent, type ReactNode, useState } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Secret } from "@/components/ui/secret";
import { RecoveryCodes } from "./recovery-codes";
import { codeField, type Enrolment, type SecondFactorActions } from "./second-factor";

type Step = { at: "name" } | { at: "scan"; enrolment: Enrolment } | { at: "codes"; codes: string[] };

/**
 * Adds an authenticator app in three steps: what to call it, its first code, and the recovery codes, which are shown this
 * once.
 * @param finish what follows the recovery codes, or the first code where there are none to show
 */
export function AuthenticatorSetup({
  actions,
  suggestedName,
  onFinish,
  finish,
}: {
  actions: Pick<SecondFactorActions, "begin" | "confirm">;
  suggestedName: string;
  onFinish: () => void;
  finish: ReactNode;
}) {
  const [step, setStep] = useState<Step>({ at: "name" });
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const textOf = (name: string) => String(form.get(name)).trim();
    setPending(true);
    setProblem(undefined);
    try {
      if (step.at === "name") {
        const begun = await actions.begin(textOf("name"));
        if ("error" in begun) setProblem(begun.error);
        else setStep({ at: "scan", enrolment: begun });
      } else if (step.at === "scan") {
        const confirmed = await actions.confirm(step.enrolment.factorId, textOf("code"));
        if ("error" in confirmed) setProblem(confirmed.error);
        else if (confirmed.codes) setStep({ at: "codes", codes: confirmed.codes });
        else onFinish();
      }
    } catch {
      setProblem("That did not work. Try again in a moment.");
    } finally {
      setPending(false);
    }
  };
  if (step.at === "codes") {
    return (
      <div className="grid gap-5">
        <p role="status" className="text-muted-foreground text-sm">
          Your authenticator is set up. Keep these codes where you find them without your phone: each of them
          signs you in once. They are shown this once.
        </p>
        <RecoveryCodes codes={step.codes} />
        <div className="grid sm:justify-end">
          <Button onClick={onFinish} className="max-sm:h-10">
            {finish}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <form onSubmit={submit} className="grid gap-5">
      {step.at === "name" ? (
        <FormField label="Name" description="To tell it from others, such as “Work phone”.">
          {(control) => (
            <Input {...control} name="name" defaultValue={suggestedName} maxLength={60} required autoFocus />
          )}
        </FormField>
      ) : (
        <Scan enrolment={step.enrolment} />
      )}
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <div className="grid sm:justify-end">
        <Button type="submit" disabled={isPending} className="max-sm:h-10">
          {step.at === "name" ? "Continue" : "Confirm the code"}
        </Button>
      </div>
    </form>
  );
}

function Scan({ enrolment: { qrCode, secret } }: { enrolment: Enrolment }) {
  return (
    <>
      <div className="grid justify-items-center gap-4">
        <p className="w-full text-muted-foreground text-sm">
          Scan this with an authenticator app, or type the secret into it.
        </p>
        {/* biome-ignore lint/performance/noImgElement: it is a data address, which nothing can make smaller. */}
        <img
          src={qrCode}
          alt="QR code with the secret below"
          className="size-44 rounded-md border bg-white p-1.5"
        />
        <div className="w-full">
          <Secret secret={secret} label="secret" />
        </div>
      </div>
      <FormField label="Code" description="The six digits that the app shows now.">
        {(control) => <Input {...control} {...codeField} autoFocus className="max-w-40 font-mono" />}
      </FormField>
    </>
  );
}
