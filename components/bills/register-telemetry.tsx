"use client";

import { useState } from "react";
import { flushSync } from "react-dom";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import { Button } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { focusResult } from "@/components/ui/focus-after";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import type { providerAccount } from "@/lib/contract/bills/provider-accounts";
import type { registerTelemetryRequest } from "@/lib/contract/bills/provider-telemetry";
import { telemetryId } from "./telemetry-id";

/** The button that has a provider send its calls, with the dialog that asks for the project of calls that name none. */
export function RegisterTelemetry({
  workspace,
  id,
  name,
  path,
}: {
  workspace: string;
  /** The id of the provider account. */
  id: string;
  name: string;
  /** The telemetry's address in the API. */
  path: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    flushSync(() => setOpen(false));
    // The button disappears when the page has been read again.
    focusResult(`#${telemetryId(id)}`);
  };
  return (
    <>
      <Button
        variant="outline"
        size="sm"
        aria-haspopup="dialog"
        aria-label={`Have ${name} send its calls`}
        onClick={() => setOpen(true)}
      >
        Send calls here
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent>
          <DialogHeader>
            <DialogTitle>Have {name} send its calls</DialogTitle>
            <DialogDescription>
              Outlay makes a source with a key of its own, and asks {name} to send it every call from now on,
              without prompts and answers.
            </DialogDescription>
          </DialogHeader>
          <RegisterForm workspace={workspace} name={name} path={path} onDone={close} />
        </DialogContent>
      </Dialog>
    </>
  );
}

function RegisterForm({
  workspace,
  name,
  path,
  onDone,
}: {
  workspace: string;
  name: string;
  path: string;
  onDone: () => void;
}) {
  const projects = useProjectList(workspace);
  const [[project], setProject] = useState<string[]>([]);
  const { run, isPending, problem, fieldErrors } = useMutation(
    () =>
      callApi<typeof providerAccount, typeof registerTelemetryRequest>(
        "POST",
        path,
        project === undefined ? {} : { project },
      ),
    {
      quiet: true,
      done: ({ telemetry }) =>
        telemetry?.state === "refused" || telemetry?.state === "failed"
          ? `${name} does not send its calls. Its account says why.`
          : `${name} sends its calls here from now on.`,
    },
  );
  return (
    <Form
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      onSubmit={async () => {
        if (await run()) onDone();
      }}
    >
      <FormField
        label="Project"
        optional
        error={fieldErrors.project}
        description="The project of calls that name none. You can change it on the source's page."
      >
        {(control) => (
          <Combobox
            {...control}
            options={projects.map((one) => toProjectOption(one, "slug"))}
            value={project === undefined ? [] : [project]}
            onChange={setProject}
            limit={1}
            allowNew
            placeholder="One named after the source"
          />
        )}
      </FormField>
      <DialogFormFooter
        submit={isPending ? "Asking…" : "Send calls here"}
        isPending={isPending}
        problem={problem}
      />
    </Form>
  );
}
