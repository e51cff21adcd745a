"use client";

import { Pencil, Power, RefreshCw, ScrollText, Send, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { callApi, Problem } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog, deletion } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem, DropdownMenuSeparator } from "@/components/ui/dropdown-menu";
import type {
  AlertChannel,
  alertChannel,
  editChannelRequest,
  rotatedSecret,
} from "@/lib/contract/alerts/alert-channels";
import type { alertDelivery } from "@/lib/contract/alerts/alerts";
import { channelsId } from "./channel-view";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const EditChannelDialog = dynamic(
  onDemand(() => import("./edit-channel-dialog")),
  { ssr: false },
);
const SigningSecretDialog = dynamic(
  onDemand(() => import("./signing-secret-dialog")),
  { ssr: false },
);
const ChannelLog = dynamic(
  onDemand(() => import("./channel-log")),
  { ssr: false },
);

/** The menu of a channel: its log for everybody; for admins also test, edit, rotate, turn on or off, and delete. */
export function ChannelActions({
  channel,
  workspace,
  canEdit,
}: {
  channel: AlertChannel;
  workspace: string;
  canEdit: boolean;
}) {
  const [dialog, setDialog] = useState<"log" | "edit" | "rotate" | "off" | "delete">();
  const [secret, setSecret] = useState<string>();
  const { name, enabled } = channel;
  const path = `/api/v1/workspaces/${workspace}/alert-channels/${channel.id}`;
  const close = () => setDialog(undefined);
  const setEnabled = (on: boolean) =>
    callApi<typeof alertChannel, typeof editChannelRequest>("PATCH", path, { enabled: on });
  const test = useMutation(
    async () => {
      const { state, last_error: error } = await callApi<typeof alertDelivery>("POST", `${path}/test`);
      if (state !== "delivered")
        throw new Problem(`The test of ${name} did not arrive. ${error ?? ""}`.trim());
      return true;
    },
    { done: `The test of ${name} was delivered.` },
  );
  const turnOn = useMutation(() => setEnabled(true), { done: `${name} is on.` });
  const rotate = async () => {
    const answer = await callApi<typeof rotatedSecret>("POST", `${path}/rotate`);
    setSecret(answer.signing_secret);
  };
  return (
    <>
      <ActionsMenu name={name} className="-mt-1.5 -mr-1.5 size-8 shrink-0">
        <DropdownMenuItem onSelect={() => setDialog("log")}>
          <ScrollText aria-hidden="true" />
          Deliveries
        </DropdownMenuItem>
        {canEdit ? (
          <>
            <DropdownMenuItem onSelect={() => void test.run()}>
              <Send aria-hidden="true" />
              Send a test
            </DropdownMenuItem>
            <DropdownMenuItem onSelect={() => setDialog("edit")}>
              <Pencil aria-hidden="true" />
              Edit
            </DropdownMenuItem>
            {channel.kind === "webhook" ? (
              <DropdownMenuItem onSelect={() => setDialog("rotate")}>
                <RefreshCw aria-hidden="true" />
                Rotate the secret
              </DropdownMenuItem>
            ) : null}
            <DropdownMenuItem onSelect={() => (enabled ? setDialog("off") : void turnOn.run())}>
              <Power aria-hidden="true" />
              {enabled ? "Turn off" : "Turn on"}
            </DropdownMenuItem>
            <DropdownMenuSeparator />
            <DropdownMenuItem destructive onSelect={() => setDialog("delete")}>
              <Trash2 aria-hidden="true" />
              Delete
            </DropdownMenuItem>
          </>
        ) : null}
      </ActionsMenu>
      {dialog === "log" ? (
        <ChannelLog workspace={workspace} channel={channel} canEdit={canEdit} onClose={close} />
      ) : null}
      {dialog === "edit" ? (
        <EditChannelDialog workspace={workspace} channel={channel} onClose={close} />
      ) : null}
      <ConfirmDialog
        open={dialog === "rotate"}
        onOpenChange={close}
        title={`Rotate the secret of ${name}?`}
        confirm="Rotate"
        destructive={false}
        onConfirm={rotate}
      >
        You get a new signing secret. For a day, each webhook is signed with both secrets, so that you can
        update the receiver without missing any.
      </ConfirmDialog>
      <ConfirmDialog
        open={dialog === "off"}
        onOpenChange={close}
        title={`Turn off ${name}?`}
        confirm="Turn off"
        onConfirm={() => setEnabled(false)}
        done={`${name} is off.`}
      >
        It receives no alerts until you turn it on again. Alerts that wait to be sent are dropped.
      </ConfirmDialog>
      <ConfirmDialog
        open={dialog === "delete"}
        onOpenChange={close}
        title={`Delete ${name}?`}
        confirm="Delete"
        {...deletion(path, { done: `${name} is deleted.`, undone: `${name} is back.` })}
        focusAfter={channelsId}
      >
        It receives no more alerts, and alerts that wait to be sent are dropped. Alerts that were sent stay in
        the list.
      </ConfirmDialog>
      {secret ? (
        <SigningSecretDialog
          secret={secret}
          title={`The new signing secret of ${name}`}
          onClose={() => setSecret(undefined)}
        />
      ) : null}
    </>
  );
}
