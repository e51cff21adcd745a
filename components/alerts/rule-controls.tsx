"use client";

import { BellOff, BellRing, Pencil } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { DropdownMenuItem } from "@/components/ui/dropdown-menu";
import { Switch } from "@/components/ui/switch";
import type {
  AlertRuleSetting,
  alertRuleSetting,
  alertSnooze,
  editAlertRuleRequest,
} from "@/lib/contract/alerts/alert-rules";
import { ruleNames } from "./rule-view";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const EditRuleDialog = dynamic(
  onDemand(() => import("./edit-rule-dialog")),
  { ssr: false },
);
const SnoozeDialog = dynamic(
  onDemand(() => import("./snooze-dialog")),
  { ssr: false },
);

/** For admins: turns a rule on and off, sets its parameter, and snoozes it. */
export function RuleControls({ rule, workspace }: { rule: AlertRuleSetting; workspace: string }) {
  const [dialog, setDialog] = useState<"edit" | "snooze">();
  const name = ruleNames[rule.rule];
  const base = `/api/v1/workspaces/${workspace}`;
  const turn = useMutation(
    (enabled: boolean) =>
      callApi<typeof alertRuleSetting, typeof editAlertRuleRequest>(
        "PATCH",
        `${base}/alert-rules/${rule.rule}`,
        { enabled },
      ),
    { done: ({ enabled }) => `${name} is ${enabled ? "on" : "off"}.` },
  );
  const wake = useMutation(
    (id: string) => callApi<typeof alertSnooze>("DELETE", `${base}/alert-snoozes/${id}`),
    { done: `${name} sends alerts again.` },
  );
  const { snooze } = rule;
  return (
    <div className="-mt-1.5 -mr-1.5 flex shrink-0 items-center gap-1">
      <Switch checked={rule.enabled} onCheckedChange={(enabled) => void turn.run(enabled)}>
        <span className="sr-only">{name}</span>
      </Switch>
      <ActionsMenu name={name} className="size-8 shrink-0">
        {rule.parameter ? (
          <DropdownMenuItem onSelect={() => setDialog("edit")}>
            <Pencil aria-hidden="true" />
            Change when it fires
          </DropdownMenuItem>
        ) : null}
        {snooze ? (
          <DropdownMenuItem onSelect={() => void wake.run(snooze.id)}>
            <BellRing aria-hidden="true" />
            End the snooze
          </DropdownMenuItem>
        ) : (
          <DropdownMenuItem onSelect={() => setDialog("snooze")}>
            <BellOff aria-hidden="true" />
            Snooze
          </DropdownMenuItem>
        )}
      </ActionsMenu>
      {dialog === "edit" ? (
        <EditRuleDialog rule={rule} workspace={workspace} onClose={() => setDialog(undefined)} />
      ) : null}
      {dialog === "snooze" ? (
        <SnoozeDialog
          workspace={workspace}
          rule={rule.rule}
          name={name}
          subjectId={null}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </div>
  );
}
