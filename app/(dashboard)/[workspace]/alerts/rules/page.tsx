import { BellOff } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { ChannelList } from "@/components/alerts/channel-list";
import { channelsId } from "@/components/alerts/channel-view";
import { NewChannel } from "@/components/alerts/new-channel";
import { RuleList } from "@/components/alerts/rule-list";
import { WeeklyReportCard } from "@/components/alerts/weekly-report";
import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { listChannels } from "@/lib/alerts/channels/service";
import { readSubscription } from "@/lib/alerts/reports/service";
import { listAlertRules } from "@/lib/alerts/rules/service";

export const metadata: Metadata = { title: "Rules and channels" };

type Props = { params: Promise<{ workspace: string }> };

/** What raises alerts in a workspace, where they are sent, and the reader's weekly report. States: no channel, channels. */
export default async function AlertRulesPage({ params }: Props) {
  const {
    claims,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const [{ channels, can_edit: canEdit, can_mail: canMail }, { rules }, report] = await Promise.all([
    listChannels(claims, slug),
    listAlertRules(claims, slug),
    readSubscription(claims, slug),
  ]);
  return (
    <>
      <PageHeader
        title="Rules and channels"
        parent={{ href: `/${slug}/alerts`, label: "Alerts" }}
        // Rendered at the same place with and without channels, so that the dialog with the secret stays open after the first one.
        actions={canEdit ? <NewChannel workspace={slug} canMail={canMail} /> : null}
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-10 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <section aria-labelledby="rules-title" className="grid min-w-0 content-start gap-3">
          <h2 id="rules-title" className="font-medium text-sm">
            Rules
          </h2>
          <RuleList rules={rules} workspace={slug} canEdit={canEdit} />
        </section>
        <div className="grid min-w-0 content-start gap-10">
          <section
            id={channelsId}
            tabIndex={-1}
            aria-labelledby="channels-title"
            className="grid min-w-0 content-start gap-3 outline-none"
          >
            <h2 id="channels-title" className="font-medium text-sm">
              Channels
            </h2>
            {channels.length === 0 ? (
              <EmptyState icon={<BellOff />} title="No channel yet">
                Add a channel to send alerts by mail, to Slack, Discord, Teams or PagerDuty, or to a webhook
                of your own.
                {canEdit ? null : " Admins of this workspace can add one."}
              </EmptyState>
            ) : (
              <ChannelList channels={channels} workspace={slug} canEdit={canEdit} />
            )}
          </section>
          <section aria-labelledby="report-title" className="grid min-w-0 content-start gap-3">
            <h2 id="report-title" className="font-medium text-sm">
              Weekly report
            </h2>
            <WeeklyReportCard report={report} workspace={slug} />
          </section>
        </div>
      </div>
    </>
  );
}
