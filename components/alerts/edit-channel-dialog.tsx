"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import type { AlertChannel, alertChannel, editChannelRequest } from "@/lib/contract/alerts/alert-channels";
import { CommonFields, readFields, TargetFields } from "./channel-fields";
import { kindLabel } from "./channel-view";

/** Changes a channel's name, its address, and what it receives. */
export default function EditChannelDialog({
  workspace,
  channel,
  onClose,
}: {
  workspace: string;
  channel: AlertChannel;
  onClose: () => void;
}) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) =>
      callApi<typeof alertChannel, typeof editChannelRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/alert-channels/${channel.id}`,
        readFields(channel.kind, fields),
      ),
    { done: ({ name }) => `The channel ${name} is changed.`, quiet: true },
  );
  const save = async (fields: FormData) => {
    if (await run(fields)) onClose();
  };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form noValidate onSubmit={save} className="grid gap-5">
          <DialogHeader>
            <DialogTitle>Edit {channel.name}</DialogTitle>
            <DialogDescription>
              This channel’s kind, {kindLabel(channel.kind)}, cannot be changed. Add another channel for
              another kind.
            </DialogDescription>
          </DialogHeader>
          <TargetFields kind={channel.kind} present={channel} errors={fieldErrors} />
          <CommonFields present={channel} errors={fieldErrors} />
          <DialogFormFooter submit="Save" isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
