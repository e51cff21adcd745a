"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { TimeZoneField } from "@/components/schedule/time-zone-field";
import { useOwnZone } from "@/components/schedule/use-own-zone";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import type { Membership, membership } from "@/lib/contract/access/me";
import type { updateWorkspaceRequest } from "@/lib/contract/access/workspaces";

/** Sets the time zone of a workspace, for admins, after explaining the effects. States: a zone in use, and a change in progress. */
export function TimeZoneSetting({ workspace }: { workspace: Membership }) {
  const { slug, time_zone: present, next_time_zone: next } = workspace;
  const [zone, setZone] = useState<string[]>([]);
  const [isOpen, setOpen] = useState(false);
  const own = useOwnZone();
  const chosen = zone[0] ?? own ?? present;
  if (next !== null) {
    return (
      <Alert>
        Costs are being summed for the days of {next}. Until that is done, all figures are of the days of{" "}
        {present}.
      </Alert>
    );
  }
  return (
    <div className="grid max-w-xl gap-4">
      <p className="text-sm">
        Days begin at midnight in <strong className="font-medium">{present}</strong>.
      </p>
      <TimeZoneField
        zone={zone}
        onZone={setZone}
        description="Left empty: the time zone of this browser."
        error={undefined}
      />
      <Button
        variant="outline"
        className="justify-self-start"
        disabled={chosen === present}
        onClick={() => setOpen(true)}
      >
        Use {chosen}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={`Use the days of ${chosen}?`}
        confirm="Change the time zone"
        destructive={false}
        onConfirm={() =>
          callApi<typeof membership, typeof updateWorkspaceRequest>("PATCH", `/api/v1/workspaces/${slug}`, {
            time_zone: chosen,
          })
        }
        done={`Days are summed for ${chosen}.`}
      >
        All costs are summed again for the days of {chosen}, past ones too: figures of days, weeks and months
        change, in pages, exports, the API and answers to assistants. What was recorded for a day without a
        time stays on that day. Until the sums are ready, all figures stay as they are. Monthly limits of keys
        remain those of UTC months, and budgets keep the time zone they have. Days whose messages were removed
        stay as they are.
      </ConfirmDialog>
    </div>
  );
}
