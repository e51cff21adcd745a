"use client";

import { formatDateTime } from "@/components/figures/format-date";
import { callApi, Problem } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Switch } from "@/components/ui/switch";
import type {
  sendReportRequest,
  sentReport,
  WeeklyReport,
  weeklyReport,
  weeklyReportRequest,
} from "@/lib/contract/spend/weekly-report";

/** Whether the reader receives the weekly report, and a button that sends it to them now. */
export function WeeklyReportCard({ report, workspace }: { report: WeeklyReport; workspace: string }) {
  const { enabled, time_zone: zone, next_at: next, can_mail: canMail } = report;
  const path = `/api/v1/workspaces/${workspace}/weekly-report`;
  const change = useMutation(
    (on: boolean) =>
      callApi<typeof weeklyReport, typeof weeklyReportRequest>(
        "PUT",
        path,
        on ? { enabled: true, time_zone: ownZone() } : { enabled: false },
      ),
    {
      done: ({ enabled: on }) =>
        on ? "You will receive the weekly report." : "You will receive no weekly report.",
    },
  );
  const send = useMutation(
    async () => {
      const sent = await callApi<typeof sentReport, typeof sendReportRequest>("POST", `${path}/send`, {
        time_zone: zone ?? ownZone(),
      });
      if (sent.error !== null) throw new Problem(`The report was not sent. ${sent.error}`);
      return sent;
    },
    { done: ({ sent_to: to }) => `Last week's report was sent to ${to}.`, refresh: false },
  );
  return (
    <div className="grid gap-3 rounded-lg border p-3.5">
      <p className="text-[13px] text-muted-foreground">
        {canMail
          ? "Each Monday by mail, to you alone: the spend of the week, what changed most, usage without a price, and budgets at risk."
          : "This service has no mail server, so it cannot send reports."}
      </p>
      {canMail || enabled ? (
        <Switch checked={enabled} onCheckedChange={(on) => void change.run(on)} className="w-fit">
          Mail me the weekly report
        </Switch>
      ) : null}
      {next && zone ? (
        <p className="text-[13px] text-muted-foreground">
          The next one: {formatDateTime(next)} UTC, which is Monday at 08:00 in {zone}.
        </p>
      ) : null}
      {canMail ? (
        <Button
          variant="outline"
          size="sm"
          className="justify-self-start"
          disabled={send.isPending}
          onClick={() => void send.run()}
        >
          Send me the last week now
        </Button>
      ) : null}
    </div>
  );
}

/** The time zone of the reader's computer. */
const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
