import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { CorrectionList } from "@/components/prices/correction-list";
import { PriceTable } from "@/components/prices/price-table";
import { SetPrice } from "@/components/prices/set-price";
import { UnpricedTable } from "@/components/prices/unpriced-table";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { EmptyState } from "@/components/ui/empty-state";
import { readPricesView } from "@/lib/spend/views/prices";

export const metadata: Metadata = { title: "Prices" };

type Props = { params: Promise<{ workspace: string }> };

/** What has no price yet, a workspace's own prices, and what the latest of them changed. */
export default async function PricesPage({ params }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const canSet = role === "owner" || role === "admin";
  const { today, prices, repricings, unpriced } = await readPricesView(claims, slug);
  const start = { provider: "", model: "", unitType: "", rate: "", startsOn: today, waiting: null };
  const create = canSet ? <SetPrice workspace={slug} start={start} label="Set a price" /> : null;
  return (
    <SettingsSections>
      <SettingsSection
        title="Without a price"
        description={
          unpriced.length === 0
            ? "Everything that was recorded has a price."
            : "This usage counts $0 until it has one, and is corrected as soon as it has."
        }
      >
        {unpriced.length === 0 ? null : (
          <UnpricedTable unpriced={unpriced} workspace={slug} canSet={canSet} />
        )}
      </SettingsSection>
      <SettingsSection
        title="Your own prices"
        description="For models of your own, and for what you negotiated. The rest is priced by the catalogue that the service comes with."
        actions={prices.length > 0 ? create : null}
      >
        {prices.length === 0 ? (
          <EmptyState title="No price of your own yet" action={create}>
            What a public price list knows has its price already.
            {canSet ? null : " Admins of this workspace can set one."}
          </EmptyState>
        ) : (
          <PriceTable prices={prices} workspace={slug} canSet={canSet} today={today} />
        )}
      </SettingsSection>
      {repricings.length > 0 ? (
        <SettingsSection
          title="Corrections"
          description="What setting a price changed in what was recorded before."
        >
          <CorrectionList repricings={repricings} />
        </SettingsSection>
      ) : null}
    </SettingsSections>
  );
}
