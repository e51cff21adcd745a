"use client";

import { BellOff, BellRing, UserPlus, UserX } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { Button } from "@/components/ui/button";
import { DropdownMenuItem } from "@/components/ui/dropdown-menu";
import { controlOfNextRow, focusAfterDeletion } from "@/components/ui/focus-after";
import type { ChangeEntryRequest, changeEntryRequest, inboxEntry } from "@/lib/contract/alerts/alert-inbox";
import type { alertSnooze } from "@/lib/contract/alerts/alert-rules";
import { type EntryOfActions, inboxId } from "./entry-view";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const AssignDialog = dynamic(
  onDemand(() => import("./assign-dialog")),
  { ssr: false },
);
const SnoozeDialog = dynamic(
  onDemand(() => import("./snooze-dialog")),
  { ssr: false },
);

/** The buttons of an entry: take it, resolve it or open it again, and in a menu assign and, for admins, snooze it. */
export function EntryActions({
  entry,
  workspace,
  userId,
  canSnooze,
}: {
  entry: EntryOfActions;
  workspace: string;
  /** The id of the reader. */
  userId: string;
  canSnooze: boolean;
}) {
  const [dialog, setDialog] = useState<"assign" | "snooze">();
  const { id, title, rule, subject, status, assigneeId, snoozeId, isResolvedByHand } = entry;
  const path = `/api/v1/workspaces/${workspace}/alerts/inbox/${id}`;
  const change = (body: ChangeEntryRequest) =>
    callApi<typeof inboxEntry, typeof changeEntryRequest>("PATCH", path, body);
  const resolve = useMutation(() => change({ resolved: true }), {
    done: "Resolved.",
    undo: { run: () => change({ resolved: false }), done: "It is open again." },
  });
  const reopen = useMutation(() => change({ resolved: false }), { done: "It is open again." });
  const take = useMutation(() => change({ assignee_id: userId }), { done: "Assigned to you." });
  const release = useMutation(() => change({ assignee_id: null }), { done: "Unassigned." });
  const wake = useMutation(
    (snooze: string) =>
      callApi<typeof alertSnooze>("DELETE", `/api/v1/workspaces/${workspace}/alert-snoozes/${snooze}`),
    { done: `${subject.name} sends alerts again.` },
  );
  const isPending = [resolve, reopen, take, release, wake].some((each) => each.isPending);
  if (status === "resolved") {
    return isResolvedByHand ? (
      <Button
        variant="outline"
        size="sm"
        disabled={isPending}
        aria-label={`Open again: ${title}`}
        onClick={async ({ currentTarget }) => {
          const next = controlOfNextRow(currentTarget);
          if (await reopen.run()) focusAfterDeletion(inboxId, next);
        }}
      >
        Open again
      </Button>
    ) : null;
  }
  return (
    <>
      {assigneeId === null ? (
        <Button
          variant="ghost"
          size="sm"
          disabled={isPending}
          aria-label={`Assign to me: ${title}`}
          onClick={() => void take.run()}
        >
          Assign to me
        </Button>
      ) : null}
      <Button
        variant="outline"
        size="sm"
        disabled={isPending}
        data-row-control
        aria-label={`Resolve: ${title}`}
        onClick={async ({ currentTarget }) => {
          const next = controlOfNextRow(currentTarget);
          if (await resolve.run()) focusAfterDeletion(inboxId, next);
        }}
      >
        Resolve
      </Button>
      <ActionsMenu name={title} className="size-8">
        <DropdownMenuItem onSelect={() => setDialog("assign")}>
          <UserPlus aria-hidden="true" />
          Assign
        </DropdownMenuItem>
        {assigneeId === null ? null : (
          <DropdownMenuItem onSelect={() => void release.run()}>
            <UserX aria-hidden="true" />
            Unassign
          </DropdownMenuItem>
        )}
        {!canSnooze ? null : snoozeId === null ? (
          <DropdownMenuItem onSelect={() => setDialog("snooze")}>
            <BellOff aria-hidden="true" />
            Snooze
          </DropdownMenuItem>
        ) : (
          <DropdownMenuItem onSelect={() => void wake.run(snoozeId)}>
            <BellRing aria-hidden="true" />
            End the snooze
          </DropdownMenuItem>
        )}
      </ActionsMenu>
      {dialog === "assign" ? (
        <AssignDialog entry={entry} workspace={workspace} onClose={() => setDialog(undefined)} />
      ) : null}
      {dialog === "snooze" ? (
        <SnoozeDialog
          workspace={workspace}
          rule={rule}
          name={subject.name}
          subjectId={subject.id}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </>
  );
}
