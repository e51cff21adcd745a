import { CircleCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { NewChannel } from "@/components/alerts/new-channel";
import { NewBudget } from "@/components/budgets/new-budget";
import { Step } from "@/components/ui/step";

/** The parts of a workspace that alerts need: the names of its budgets and of its enabled channels. */
export type AlertSetup = { budgets: string[]; channels: string[]; canEdit: boolean; canMail: boolean };

/** The step that sets up alerts: a budget, whose thresholds raise alerts, and a channel that they are sent to. */
export function SetUpAlerts({
  number,
  workspace,
  alerts,
}: {
  number: number;
  workspace: string;
  alerts: AlertSetup;
}) {
  const { budgets, channels, canEdit, canMail } = alerts;
  return (
    <Step number={number} title="Set up alerts" isDone={budgets.length > 0 && channels.length > 0}>
      <p className="pb-3 text-muted-foreground text-sm">
        A budget raises an alert at 50, 80 and 100% of its limit, and a channel sends it to you.
        {canEdit ? null : " Admins of this workspace can add both."}
      </p>
      <ul className="grid max-w-3xl gap-3">
        <Part
          names={budgets}
          none="No budget yet"
          action={canEdit ? <NewBudget workspace={workspace} variant="outline" /> : null}
        />
        <Part
          names={channels}
          none="No channel yet: alerts appear only on the page Alerts"
          action={canEdit ? <NewChannel workspace={workspace} canMail={canMail} variant="outline" /> : null}
        />
      </ul>
    </Step>
  );
}

/** One part of the step: the names of what exists, or what is missing and the button that adds it. */
function Part({ names, none, action }: { names: string[]; none: string; action: ReactNode }) {
  const isThere = names.length > 0;
  return (
    <li className="flex min-h-9 flex-wrap items-center justify-between gap-x-4 gap-y-2 text-sm">
      <span className="flex min-w-0 items-center gap-2">
        {isThere ? (
          <CircleCheck aria-hidden="true" className="size-4 shrink-0 text-success" />
        ) : (
          <CircleDashed aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
        )}
        <span className="[overflow-wrap:anywhere]">{isThere ? names.join(", ") : none}</span>
      </span>
      {action}
    </li>
  );
}
