import { PlugZap, ReceiptText } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { AddAccount } from "@/components/bills/add-account";
import { AddBill } from "@/components/bills/add-bill";
import { BillTable } from "@/components/bills/bill-table";
import { ProviderAccounts } from "@/components/bills/provider-accounts";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listAccounts } from "@/lib/bills/pulls/accounts";
import { listBills } from "@/lib/bills/service";
import type { Bill } from "@/lib/contract/bills/bills";
import type { ProviderAccountList } from "@/lib/contract/bills/provider-accounts";

export const metadata: Metadata = { title: "Bills" };

type Props = { params: Promise<{ workspace: string }> };

/** The bills of a workspace, and for admins the provider accounts from which bills are pulled. */
export default async function BillsPage({ params }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug } = workspace;
  const { bills, can_edit: canEdit } = await listBills(claims, slug);
  const pulled = canEdit ? await listAccounts(claims, slug) : null;
  const add = canEdit ? <AddBill workspace={slug} /> : null;
  return (
    <SettingsSections>
      {pulled ? <Accounts pulled={pulled} workspace={slug} /> : null}
      <SettingsSection
        title="Bills"
        description={
          <>
            What providers billed, from their invoices and cost exports. A bill is not spend:{" "}
            <Link href={`/${slug}/reconciliation`} className="underline underline-offset-4">
              Reconciliation
            </Link>{" "}
            compares it with what was recorded.
          </>
        }
        actions={bills.length > 0 ? add : null}
      >
        {bills.length === 0 ? (
          <EmptyState icon={<ReceiptText />} title="No bill yet" action={add}>
            Add an invoice or a cost export of a provider as CSV or Parquet, or a FOCUS file of a cloud.
            {canEdit ? null : " Admins of this workspace add bills."}
          </EmptyState>
        ) : (
          <BillTable bills={bills.toSorted(byPeriod)} workspace={slug} canEdit={canEdit} />
        )}
      </SettingsSection>
    </SettingsSections>
  );
}

/** The latest days first, and a bill beside the one that replaces it. */
const byPeriod = (a: Bill, b: Bill) =>
  b.from.slice(0, 7).localeCompare(a.from.slice(0, 7)) ||
  String(a.providers).localeCompare(String(b.providers)) ||
  b.created_at.localeCompare(a.created_at);

/** Whether an account changes by itself within seconds. */
const isInMotion = ({ is_pulling: isPulling, telemetry }: ProviderAccountList["accounts"][number]) =>
  isPulling || telemetry?.state === "registering" || telemetry?.state === "test_awaited";

function Accounts({ pulled, workspace }: { pulled: ProviderAccountList; workspace: string }) {
  const { accounts, can_add: canAdd } = pulled;
  const add = canAdd ? <AddAccount workspace={workspace} /> : null;
  return (
    <SettingsSection
      id="provider-accounts"
      title="Providers"
      description="Accounts whose costs are pulled into bills every day, with what the provider has corrected since."
      actions={accounts.length > 0 ? add : null}
    >
      <RefreshWhile isRunning={accounts.some(isInMotion)} />
      {accounts.length === 0 ? (
        <EmptyState icon={<PlugZap />} title="No provider yet" action={add}>
          {canAdd
            ? "Add OpenAI, Anthropic, OpenRouter, Cursor or GitHub with a key that reads costs, or a cloud with the folder of its cost exports, and their bills are added every day."
            : "This service cannot keep keys of providers: whoever runs it has to set SEALING_KEYS. Until then, add bills as files."}
        </EmptyState>
      ) : (
        <ProviderAccounts accounts={accounts} workspace={workspace} />
      )}
    </SettingsSection>
  );
}
