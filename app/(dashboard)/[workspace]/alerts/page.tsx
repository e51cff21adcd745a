import { BellOff, BellRing } from "lucide-react";
import type { Metadata } from "next";
import { AlertList } from "@/components/alerts/alert-list";
import { ChannelList } from "@/components/alerts/channel-list";
import { channelsId } from "@/components/alerts/channel-view";
import { NewChannel } from "@/components/alerts/new-channel";
import { RuleList } from "@/components/alerts/rule-list";
import { WeeklyReportCard } from "@/components/alerts/weekly-report";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listChannels } from "@/lib/alerts/channels/service";
import { listAlerts } from "@/lib/alerts/log/service";
import { readSubscription } from "@/lib/alerts/reports/service";
import { listAlertRules } from "@/lib/alerts/rules/service";
import { alertQuery } from "@/lib/contract/alerts/alerts";
import { ServiceError } from "@/lib/errors";
import { requireWorkspace } from "../membership";

export const metadata: Metadata = { title: "Alerts" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

const alertsPerPage = 20;

/** What fired in a workspace and whom it was sent to, the channels and the rules. States: alerts, none, no channel, an invalid address. */
export default async function AlertsPage({ params, searchParams }: Props) {
  const {
    claims,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const { cursor } = await searchParams;
  const path = `/${slug}/alerts`;
  const query = alertQuery.safeParse({ cursor, limit: alertsPerPage });
  const [{ channels, can_edit: canEdit, can_mail: canMail }, { rules }, report, list] = await Promise.all([
    listChannels(claims, slug),
    listAlertRules(claims, slug),
    readSubscription(claims, slug),
    query.success ? listAlerts(claims, slug, query.data).catch(undefinedIfInvalid) : undefined,
  ]);
  if (!list) return <InvalidAddress path={path} />;
  return (
    <>
      <PageHeader
        title="Alerts"
        // In one place, with and without channels: the dialog with the new secret must stay when the first one appears.
        actions={canEdit ? <NewChannel workspace={slug} canMail={canMail} /> : null}
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-10 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <section aria-label="Alerts" className="min-w-0">
          {list.alerts.length === 0 ? (
            <EmptyState icon={<BellRing />} title="Nothing has fired">
              An alert fires when a budget reaches a threshold, a key is close to its limit, a day costs much
              more than usual, or another rule applies. Each alert is sent once per period.{" "}
              <Link href={`/${slug}/budgets`} className="underline underline-offset-4">
                Budgets
              </Link>
            </EmptyState>
          ) : (
            <AlertList alerts={list.alerts} workspace={slug} canEdit={canEdit} />
          )}
          <nav aria-label="Pages of alerts" className="flex justify-center gap-2 pt-4 empty:hidden">
            {cursor ? (
              <Link href={path} className={buttonVariants({ variant: "outline" })}>
                Back to the newest
              </Link>
            ) : null}
            {list.next_cursor ? (
              <Link
                href={hrefWith(path, {}, { cursor: list.next_cursor })}
                className={buttonVariants({ variant: "outline" })}
              >
                Show older
              </Link>
            ) : null}
          </nav>
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
          <section aria-labelledby="rules-title" className="grid min-w-0 content-start gap-3">
            <h2 id="rules-title" className="font-medium text-sm">
              Rules
            </h2>
            <RuleList rules={rules} workspace={slug} canEdit={canEdit} />
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

/** For an invalid cursor, undefined instead of an error page. */
function undefinedIfInvalid(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "validation_failed") return undefined;
  throw error;
}

function InvalidAddress({ path }: { path: string }) {
  return (
    <>
      <PageHeader title="Alerts" />
      <EmptyState
        title="This address is not valid"
        action={
          <Link href={path} className={buttonVariants({ variant: "outline" })}>
            Show all alerts
          </Link>
        }
      />
    </>
  );
}
