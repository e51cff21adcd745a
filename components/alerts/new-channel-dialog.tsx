"use client";

import { useState } from "react";
import type { z } from "zod";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type {
  ChannelKind,
  CreatedChannel,
  createChannelRequest,
  createdChannel,
} from "@/lib/contract/alerts/alert-channels";
import { CommonFields, readFields, TargetFields } from "./channel-fields";
import { kinds } from "./channel-view";

/** Adds a channel. */
export default function NewChannelDialog({
  workspace,
  canMail,
  onClose,
  onCreated,
}: {
  workspace: string;
  /** Whether the service can send mail; otherwise the form does not offer it. */
  canMail: boolean;
  onClose: () => void;
  onCreated: (channel: CreatedChannel) => void;
}) {
  const offered = kinds.filter(({ value }) => canMail || value !== "email");
  const [kind, setKind] = useState<ChannelKind>(offered[0]?.value ?? "webhook");
  const { run, reset, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) =>
      callApi<typeof createdChannel, typeof createChannelRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/alert-channels`,
        // A missing field is refused by the API, which names it.
        { kind, ...readFields(kind, fields) } as z.input<typeof createChannelRequest>,
      ),
    { done: ({ name }) => `The channel ${name} is added. Send a test to see whether it works.`, quiet: true },
  );
  const create = async (fields: FormData) => {
    const created = await run(fields);
    if (created) onCreated(created);
  };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form noValidate onSubmit={create} className="grid gap-5">
          <DialogHeader>
            <DialogTitle>Add a channel</DialogTitle>
            <DialogDescription>
              Alerts are sent to every channel of the workspace that is on.
            </DialogDescription>
          </DialogHeader>
          <FormField label="Kind" error={fieldErrors.kind}>
            {(control) => (
              <Select
                {...control}
                value={kind}
                onChange={({ currentTarget }) => {
                  setKind(currentTarget.value as ChannelKind);
                  reset();
                }}
              >
                {offered.map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
          <TargetFields key={kind} kind={kind} errors={fieldErrors} />
          <CommonFields errors={fieldErrors} />
          <DialogFormFooter submit="Add the channel" isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
