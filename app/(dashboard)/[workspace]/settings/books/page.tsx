import { BookCheck } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { Download, MonthTable, nameOfMonth } from "@/components/books/month-table";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { EmptyState } from "@/components/ui/empty-state";
import type { ClosedMonthList } from "@/lib/contract/ledger/closed-months";
import { listClosedMonths } from "@/lib/ledger/closing/service";

export const metadata: Metadata = { title: "Books" };

type Props = { params: Promise<{ workspace: string }> };

/** The months of a workspace, with the filed exports of closed ones. Admins close and reopen months here. */
export default async function BooksPage({ params }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const list = await listClosedMonths(claims, slug);
  const canClose = role === "owner" || role === "admin";
  const isEmpty = list.months.every(({ message_count: count, closing }) => count === 0 && closing === null);
  return (
    <SettingsSections>
      <SettingsSection
        title="Months"
        description={
          isEmpty
            ? undefined
            : `The figures of a closed month stay as they were filed. What is recorded of it later is booked in the open month, as an adjustment. Live costs; months of ${workspace.time_zone}.`
        }
      >
        {isEmpty ? (
          <EmptyState icon={<BookCheck />} title="No month has costs yet">
            When a month with costs is over, {canClose ? "you close it here" : "an admin closes it here"}, so
            that its figures stay as they were reported.
          </EmptyState>
        ) : (
          <MonthTable list={list} workspace={slug} canClose={canClose} />
        )}
      </SettingsSection>
      {list.reopened.length === 0 ? null : (
        <SettingsSection title="Reopened" description="What was filed before a month was reopened.">
          <Reopened list={list.reopened} workspace={slug} />
        </SettingsSection>
      )}
    </SettingsSections>
  );
}

function Reopened({ list, workspace }: { list: ClosedMonthList["reopened"]; workspace: string }) {
  return (
    <ul className="divide-y border-y text-sm" aria-label="Reopened months">
      {list.map((closing) => (
        <li key={closing.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2.5">
          <span>
            <span className="font-medium">{nameOfMonth(closing.month)}</span>,{" "}
            <Money usd={closing.amount_usd} />
            <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere]">
              Reopened {closing.reopened_at ? <Time at={closing.reopened_at} /> : null}
              {closing.reopened_by ? ` by ${closing.reopened_by}` : ""}: {closing.reopen_reason}
            </span>
          </span>
          <Download workspace={workspace} closing={closing} />
        </li>
      ))}
    </ul>
  );
}
