import { PiggyBank } from "lucide-react";
import type { Metadata } from "next";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { ComputeAgain } from "@/components/recommendations/compute-again";
import { recommendationsId } from "@/components/recommendations/list-id";
import { RecommendationCards } from "@/components/recommendations/recommendation-list";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { listRecommendations } from "@/lib/spend/recommendations/service";
import { requireWorkspace } from "../membership";

export const metadata: Metadata = { title: "Recommendations" };

const nothing =
  "No other tier, no smaller model and no prompt caching would have saved at least $1 and 1% of what was spent in the last 30 days.";

type Props = { params: Promise<{ workspace: string }> };

/** What would have saved money in the last 30 days, with its rows and decisions. */
export default async function RecommendationsPage({ params }: Props) {
  const {
    claims,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const {
    computed_at: computedAt,
    open_usd: total,
    recommendations,
    can_decide: canDecide,
  } = await listRecommendations(claims, slug);
  const open = recommendations.filter(({ state }) => state === "open");
  const savings = open.filter(({ kind }) => kind !== "disputed_price");
  const disputed = open.filter(({ kind }) => kind === "disputed_price");
  const decided = recommendations.filter(({ state }) => state !== "open");
  const path = `/api/v1/workspaces/${slug}/recommendations`;
  return (
    <>
      <PageHeader
        title="Recommendations"
        actions={
          canDecide && computedAt !== null ? <ComputeAgain path={path} computedAt={computedAt} /> : null
        }
      />
      <SettingsSections>
        {open.length === 0 ? (
          <EmptyState
            icon={<PiggyBank />}
            title={computedAt === null ? "Nothing was computed yet" : "Nothing to recommend"}
          >
            {computedAt === null
              ? "The day after this workspace has its first live usage, and each week from then on, what was recorded in the last 30 days is priced again: in a batch tier, with a smaller model, in the standard tier, with prompts read from the cache. What would have saved at least $1 and 1% of the spend appears here."
              : nothing}
            {computedAt === null ? null : (
              <>
                {" "}
                Computed <Time at={computedAt} />.
              </>
            )}
          </EmptyState>
        ) : (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
            <p id={recommendationsId} tabIndex={-1} className="max-w-[72ch] text-base outline-none">
              {savings.length === 0 ? (
                nothing
              ) : (
                <>
                  These changes would have saved{" "}
                  <Money usd={total} figure="open_usd" className="font-medium" /> in the last 30 days.
                </>
              )}{" "}
              <span className="text-muted-foreground">
                {savings.length > 0 ? "Of several about the same usage, only the largest counts." : null}
                {open.some(({ kind }) => kind === "smaller_model")
                  ? " Models are compared by price, not by the quality of their answers."
                  : null}
                {computedAt === null ? null : (
                  <>
                    {" "}
                    Computed <Time at={computedAt} />, and each week.
                  </>
                )}
              </span>
            </p>
            {savings.length > 0 ? (
              <RecommendationCards
                workspace={slug}
                recommendations={savings}
                label="Open recommendations"
                canDecide={canDecide}
              />
            ) : null}
          </div>
        )}
        {disputed.length > 0 ? (
          <SettingsSection
            title="Disputed prices"
            description="Two catalogues list different prices of these models. None is a saving: choose which price is yours."
          >
            <RecommendationCards
              workspace={slug}
              recommendations={disputed}
              label="Open disputed prices"
              canDecide={canDecide}
            />
          </SettingsSection>
        ) : null}
        {decided.length > 0 ? (
          <SettingsSection title="Decided">
            <RecommendationCards
              workspace={slug}
              recommendations={decided}
              label="Decided recommendations"
              canDecide={canDecide}
            />
          </SettingsSection>
        ) : null}
      </SettingsSections>
    </>
  );
}
