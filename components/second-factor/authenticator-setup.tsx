"use client";

import { type ReactNode, useState } from "react";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import { Secret } from "@/components/ui/secret";
import { AppCodeField } from "./app-code-field";
import { RecoveryCodes } from "./recovery-codes";
import { type Enrolment, type SecondFactorActions, unwrap } from "./second-factor";

type Step = { at: "name" } | { at: "scan"; enrolment: Enrolment } | { at: "codes"; codes: string[] };

/**
 * Adds an authenticator app in three steps: its name, its first code, and the recovery codes, which are shown only once.
 * Without recovery codes to show, `onFinish` is called after the first code.
 * @param props.finish label of the button below the recovery codes
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
  const { run, isPending, problem } = useMutation(
    async (fields: FormData) => {
      if (step.at === "name") {
        setStep({ at: "scan", enrolment: await unwrap(actions.begin(textOf(fields, "name"))) });
      } else if (step.at === "scan") {
        const { codes } = await unwrap(actions.confirm(step.enrolment.factorId, textOf(fields, "code")));
        if (codes) setStep({ at: "codes", codes });
        else onFinish();
      }
    },
    { quiet: true, refresh: false },
  );
  if (step.at === "codes") {
    return (
      <div className="grid gap-5">
        <p role="status" className="text-muted-foreground text-sm">
          Your authenticator is set up. Store these recovery codes where you can find them without your phone.
          Each code lets you sign in once. They are shown only once.
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
    <Form onSubmit={run} className="grid gap-5">
      {step.at === "name" ? (
        <TextField
          label="Name"
          description="A name to recognize it by, for example “Work phone”."
          name="name"
          defaultValue={suggestedName}
          maxLength={60}
          required
          autoFocus
        />
      ) : (
        <Scan enrolment={step.enrolment} />
      )}
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <div className="grid sm:justify-end">
        <Button type="submit" disabled={isPending} className="max-sm:h-10">
          {step.at === "name" ? "Continue" : "Confirm the code"}
        </Button>
      </div>
    </Form>
  );
}

function Scan({ enrolment: { qrCode, secret } }: { enrolment: Enrolment }) {
  return (
    <>
      <div className="grid justify-items-center gap-4">
        <p className="w-full text-muted-foreground text-sm">
          Scan this QR code with an authenticator app, or type the secret into it.
        </p>
        {/* biome-ignore lint/performance/noImgElement: next/image cannot optimize a data URL. */}
        <img
          src={qrCode}
          alt="QR code with the secret below"
          className="size-44 rounded-md border bg-white p-1.5"
        />
        <div className="w-full">
          <Secret secret={secret} label="secret" />
        </div>
      </div>
      <AppCodeField />
    </>
  );
}
