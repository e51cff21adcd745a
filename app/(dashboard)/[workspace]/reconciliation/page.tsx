import { Download, Scale } from "lucide-react";
import type { Metadata } from "next";
import { Adjustments } from "@/components/bills/adjustments";
import { BookDifference } from "@/components/bills/book-difference";
import type { Bookable } from "@/components/bills/booking-dialog";
import { Differences } from "@/components/bills/differences";
import { LearnedPrices } from "@/components/bills/learned-prices";
import { nameOfMonth, ReconciledMonths, ReconciledProviders, sentenceOf } from "@/components/bills/months";
import { UnseenKeys } from "@/components/bills/unseen-keys";
import { ReconciledUsers } from "@/components/bills/users";
import { Waterfall } from "@/components/bills/waterfall";
import { exactText } from "@/components/figures/amount";
import type { SearchParams } from "@/components/filters/href";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listAdjustments } from "@/lib/bills/adjustments";
import { readReconciliation } from "@/lib/bills/reconciliation";
import { bookableParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import { month as monthSchema } from "@/lib/contract/ledger/closed-months";
import { requireWorkspace } from "../membership";

export const metadata: Metadata = { title: "Reconciliation" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** Compares what providers billed with what was recorded, by month, and explains the difference of one month. */
export default async function ReconciliationPage({ params, searchParams }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const asked = monthSchema.safeParse((await searchParams).month).data;
  const { months, detail } = await readReconciliation(claims, slug, asked ?? "latest");
  const canAdd = role === "owner" || role === "admin";
  const { adjustments } = await listAdjustments(claims, slug, undefined);
  const bookable = detail ? bookableOf(detail) : [];
  const booked = adjustments.filter(({ month }) => month === detail?.month);
  if (months.length === 0) {
    return (
      <>
        <PageHeader title="Reconciliation" />
        <EmptyState
          icon={<Scale />}
          title="No bill yet"
          action={
            canAdd ? (
              <Link href={`/${slug}/settings/bills`} className="underline underline-offset-4">
                Add a bill
              </Link>
            ) : null
          }
        >
          With an invoice or a cost export of a provider, this page compares what was billed with what was
          recorded, and names each part of the difference with its exact amount.
          {canAdd ? null : " Admins of this workspace add bills in Settings."}
        </EmptyState>
      </>
    );
  }
  return (
    <>
      <PageHeader
        title="Reconciliation"
        actions={
          <>
            {detail ? (
              <a
                href={`/api/v1/workspaces/${slug}/reconciliation/export?month=${detail.month}`}
                className={buttonVariants({ variant: "outline" })}
              >
                <Download aria-hidden="true" />
                CSV
              </a>
            ) : null}
            <Link href={`/${slug}/settings/bills`} className={buttonVariants({ variant: "outline" })}>
              Bills
            </Link>
          </>
        }
      />
      <SettingsSections>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          {detail ? (
            <p className="max-w-[72ch] text-base">{sentenceOf(detail)}</p>
          ) : (
            <p className="max-w-[72ch] text-base">There is no bill of {nameOfMonth(asked ?? "")}.</p>
          )}
          <ReconciledMonths months={months} workspace={slug} shown={detail?.month} />
        </div>
        {detail ? (
          <>
            <SettingsSection
              title={`From recorded to billed: ${nameOfMonth(detail.month)}`}
              description="The parts sum to the difference exactly."
            >
              <Waterfall sums={detail} parts={detail.parts} />
            </SettingsSection>
            {detail.unseen_keys.length > 0 ? (
              <SettingsSection title="Keys without a source">
                <UnseenKeys keys={detail.unseen_keys} workspace={slug} />
              </SettingsSection>
            ) : null}
            {detail.learned_prices.length > 0 ? (
              <SettingsSection
                title="Prices on the bill"
                description="The bill has another price than usage is recorded at. As a price of this workspace, it holds from that day on, and corrects what was recorded since; closed months stay as they are."
              >
                <LearnedPrices prices={detail.learned_prices} workspace={slug} canSet={canAdd} />
              </SettingsSection>
            ) : null}
            {booked.length > 0 || bookable.length > 0 ? (
              <SettingsSection
                title="Adjustments"
                description={
                  bookable.length === 0
                    ? "Every difference of the billed days is booked: what is recorded equals what was billed."
                    : `${canAdd ? "Book" : "Admins can book"} what is left of the difference, so that recorded equals billed.${detail.learned_prices.length > 0 ? " Set prices first: they change it." : ""}`
                }
                actions={
                  canAdd && bookable.length > 0 ? (
                    <BookDifference
                      workspace={slug}
                      month={detail.month}
                      bookable={bookable}
                      project={adjustments[0]?.project.slug}
                    />
                  ) : null
                }
              >
                {booked.length > 0 ? (
                  <Adjustments adjustments={booked} workspace={slug} canUndo={canAdd} />
                ) : (
                  <p className="text-muted-foreground text-sm">Nothing is booked yet.</p>
                )}
              </SettingsSection>
            ) : null}
            <SettingsSection title="Providers">
              <ReconciledProviders detail={detail} />
            </SettingsSection>
            <SettingsSection
              title="Models"
              description="The largest differences first. Unfold a model for its days, which are UTC, as providers bill them."
            >
              <Differences detail={detail} workspace={slug} />
            </SettingsSection>
            {detail.users.length > 0 ? (
              <SettingsSection
                title="People"
                description="Of the providers whose bills name people. The rows of a provider sum to its amounts."
              >
                <ReconciledUsers users={detail.users} />
              </SettingsSection>
            ) : null}
          </>
        ) : null}
      </SettingsSections>
    </>
  );
}

/** The bookable parts of a month's differences by provider, in the form of a client component's props. */
function bookableOf({ providers }: ReconciledDetail): Bookable[] {
  return providers.flatMap(({ provider, parts }) => {
    const own = bookableParts.flatMap((part) =>
      parts.filter((one) => one.part === part).map(({ amount_usd: usd }) => ({ part, usd: exactText(usd) })),
    );
    return own.length === 0 ? [] : [{ provider, parts: own }];
  });
}
