"use client";

import { BellOff, BellRing } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { AlertRule, alertSnooze } from "@/lib/contract/alerts/alert-rules";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const SnoozeDialog = dynamic(
  onDemand(() => import("./snooze-dialog")),
  { ssr: false },
);

/** Snoozes a subject of a rule, or ends its snooze. */
export function SnoozeButton({
  workspace,
  rule,
  subject: { id, name },
  snooze,
}: {
  workspace: string;
  rule: AlertRule;
  subject: { id: string; name: string };
  snooze?: { id: string } | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const wake = useMutation(
    (snoozeId: string) =>
      callApi<typeof alertSnooze>("DELETE", `/api/v1/workspaces/${workspace}/alert-snoozes/${snoozeId}`),
    { done: `${name} sends alerts again.` },
  );
  return (
    <>
      <Button
        variant="ghost"
        size="sm"
        className="-mx-2.5 -my-1.5 shrink-0 text-muted-foreground"
        disabled={wake.isPending}
        aria-label={snooze ? `End snooze of ${name}` : `Snooze ${name}`}
        onClick={() => (snooze ? void wake.run(snooze.id) : setOpen(true))}
      >
        {snooze ? <BellRing aria-hidden="true" /> : <BellOff aria-hidden="true" />}
        {snooze ? "End snooze" : "Snooze"}
      </Button>
      {isOpen ? (
        <SnoozeDialog
          workspace={workspace}
          rule={rule}
          name={name}
          subjectId={id}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
