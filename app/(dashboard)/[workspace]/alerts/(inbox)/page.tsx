import { BellRing } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { inboxId } from "@/components/alerts/entry-view";
import { InboxList } from "@/components/alerts/inbox-list";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import { listEntries } from "@/lib/alerts/inbox/service";
import { type InboxQuery, inboxQuery } from "@/lib/contract/alerts/alert-inbox";
import { ServiceError } from "@/lib/errors";

export const metadata: Metadata = { title: "Alerts" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

const entriesPerPage = 20;

/** The inbox of alerts. States: entries, none that match, no alerts yet, an invalid address. */
export default async function AlertsPage({ params, searchParams }: Props) {
  const {
    claims,
    user,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const { status, assignee, cursor } = await searchParams;
  const path = `/${slug}/alerts`;
  const query = inboxQuery.safeParse({ status, assignee, cursor, limit: entriesPerPage });
  const inbox = query.success
    ? await listEntries(claims, slug, query.data).catch(undefinedIfInvalid)
    : undefined;
  const header = (
    <PageHeader
      title="Alerts"
      actions={
        <Link href={`${path}/rules`} className={buttonVariants({ variant: "outline" })}>
          Rules and channels
        </Link>
      }
    />
  );
  if (!inbox || !query.success) {
    return (
      <>
        {header}
        <EmptyState
          title="This address is not valid"
          action={
            <Link href={path} className={buttonVariants({ variant: "outline" })}>
              Show all open alerts
            </Link>
          }
        />
      </>
    );
  }
  const { open, snoozed, mine } = inbox.counts;
  const shown = query.data;
  const given = { status, assignee };
  return (
    <>
      {header}
      <section
        id={inboxId}
        tabIndex={-1}
        aria-label="Inbox"
        className="grid grid-cols-[minmax(0,1fr)] gap-4 outline-none"
      >
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <SegmentedLinks
            label="Show alerts that are"
            options={[
              option("Open", open, path, given, { status: undefined }, shown.status === "open"),
              option("Snoozed", snoozed, path, given, { status: "snoozed" }, shown.status === "snoozed"),
              option("Resolved", 0, path, given, { status: "resolved" }, shown.status === "resolved"),
            ]}
          />
          <SegmentedLinks
            label="Show alerts of"
            options={[
              option("All", 0, path, given, { assignee: undefined }, shown.assignee === undefined),
              option("Mine", mine, path, given, { assignee: "me" }, shown.assignee === "me"),
              option("Unassigned", 0, path, given, { assignee: "nobody" }, shown.assignee === "nobody"),
            ]}
          />
        </div>
        {inbox.entries.length === 0 ? (
          <NoEntries query={shown} slug={slug} />
        ) : (
          <InboxList
            entries={inbox.entries}
            workspace={slug}
            userId={user.id}
            canChange={inbox.can_change}
            canSnooze={inbox.can_snooze}
          />
        )}
        <nav aria-label="Pages of alerts" className="flex justify-center gap-2 empty:hidden">
          {cursor ? (
            <Link href={hrefWith(path, given, {})} className={buttonVariants({ variant: "outline" })}>
              Back to the newest
            </Link>
          ) : null}
          {inbox.next_cursor ? (
            <Link
              href={hrefWith(path, given, { cursor: inbox.next_cursor })}
              className={buttonVariants({ variant: "outline" })}
            >
              Show older
            </Link>
          ) : null}
        </nav>
      </section>
    </>
  );
}

/** One of the choices above the list. @param count shown beside the label, unless it is 0 */
function option(
  label: string,
  count: number,
  path: string,
  given: SearchParams,
  changes: Record<string, string | undefined>,
  current: boolean,
) {
  return { label: count > 0 ? `${label} ${count}` : label, href: hrefWith(path, given, changes), current };
}

function NoEntries({ query: { status, assignee, cursor }, slug }: { query: InboxQuery; slug: string }) {
  if (status !== "open" || assignee !== undefined || cursor !== undefined) {
    return (
      <EmptyState
        icon={<BellRing />}
        title="Nothing here"
        action={
          <Link href={`/${slug}/alerts`} className={buttonVariants({ variant: "outline" })}>
            Show all open alerts
          </Link>
        }
      >
        No alert is {status === "all" ? "listed" : status}
        {assignee === "me" ? " and assigned to you" : assignee === "nobody" ? " and unassigned" : null}.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<BellRing />} title="Nothing needs attention">
      An alert opens when a budget reaches a threshold, a key is close to its limit, a day costs much more
      than usual, or another rule applies. It is resolved by a member, or by itself once it no longer holds.{" "}
      <Link href={`/${slug}/budgets`} className="underline underline-offset-4">
        Budgets
      </Link>
    </EmptyState>
  );
}

/** Converts the error of an invalid cursor to undefined, to avoid an error page. */
function undefinedIfInvalid(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "validation_failed") return undefined;
  throw error;
}
