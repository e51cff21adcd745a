import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { formatMonthAndYear } from "@/components/figures/format-date";
import { CorrectionList } from "@/components/prices/correction-list";
import { DisputedList } from "@/components/prices/disputed-list";
import { PriceTable } from "@/components/prices/price-table";
import { toPriceView, toUnpricedView } from "@/components/prices/price-view";
import { SetPrice } from "@/components/prices/set-price";
import { UnpricedTable } from "@/components/prices/unpriced-table";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { EmptyState } from "@/components/ui/empty-state";
import { readPricesView } from "@/lib/spend/views/prices";

export const metadata: Metadata = { title: "Prices" };

type Props = { params: Promise<{ workspace: string }> };

/** Unpriced usage, disputed prices, the workspace's own prices, and the corrections that they caused. */
export default async function PricesPage({ params }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const canSet = role === "owner" || role === "admin";
  const view = await readPricesView(claims, slug);
  const { today, prices, disputed, repricings, unpriced, closed_until: closedUntil } = view;
  const views = await readRememberedViews(user.id);
  const start = {
    provider: "",
    model: "",
    units: [{ unitType: "", rate: "", waiting: null }],
    startsOn: today,
  };
  const create = canSet ? <SetPrice workspace={slug} start={start} label="Set a price" /> : null;
  return (
    <SettingsSections>
      <SettingsSection
        title="Without a price"
        description={
          unpriced.length === 0
            ? "All recorded usage has a price."
            : "This usage counts as zero until you set a price. It is corrected then."
        }
      >
        {unpriced.length === 0 ? null : (
          <UnpricedTable
            unpriced={unpriced.map(toUnpricedView)}
            views={views}
            workspace={slug}
            canSet={canSet}
          />
        )}
      </SettingsSection>
      {disputed.length === 0 ? null : (
        <SettingsSection
          title="Disputed prices"
          description="Two price catalogues disagree by 10% or more about these models. The price you use becomes your own, from the first day of this month on."
        >
          <DisputedList disputed={disputed} workspace={slug} canSet={canSet} today={today} />
        </SettingsSection>
      )}
      <SettingsSection
        title="Your own prices"
        description={`For your own models and for negotiated prices. All other usage is priced by the built-in catalogue.${
          closedUntil === null
            ? ""
            : ` Months before ${formatMonthAndYear(closedUntil)} are closed: new prices leave them as they are.`
        }`}
        actions={prices.length > 0 ? create : null}
      >
        {prices.length === 0 ? (
          <EmptyState title="No price of your own yet" action={create}>
            {canSet ? null : "Admins of this workspace can set one."}
          </EmptyState>
        ) : (
          <PriceTable
            prices={prices.map(toPriceView)}
            views={views}
            workspace={slug}
            canSet={canSet}
            today={today}
          />
        )}
      </SettingsSection>
      {repricings.length > 0 ? (
        <SettingsSection
          title="Corrections"
          description="How new prices changed usage that was recorded before."
        >
          <CorrectionList repricings={repricings} />
        </SettingsSection>
      ) : null}
    </SettingsSections>
  );
}
