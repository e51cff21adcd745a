import { ReceiptText } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { AddBill } from "@/components/bills/add-bill";
import { BillTable } from "@/components/bills/bill-table";
import { SettingsSection } from "@/components/settings/settings-section";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listBills } from "@/lib/bills/service";

export const metadata: Metadata = { title: "Bills" };

type Props = { params: Promise<{ workspace: string }> };

/** The bills of a workspace. Admins add and delete them here. */
export default async function BillsPage({ params }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug } = workspace;
  const { bills, can_edit: canEdit } = await listBills(claims, slug);
  const add = canEdit ? <AddBill workspace={slug} /> : null;
  return (
    <SettingsSection
      title="Bills"
      description={
        <>
          What providers billed, from their invoices and cost exports. A bill is no spend:{" "}
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
          Add an invoice or a cost export of a provider as CSV, or a FOCUS file of a cloud.
          {canEdit ? null : " Admins of this workspace add bills."}
        </EmptyState>
      ) : (
        <BillTable bills={bills} workspace={slug} canEdit={canEdit} />
      )}
    </SettingsSection>
  );
}
