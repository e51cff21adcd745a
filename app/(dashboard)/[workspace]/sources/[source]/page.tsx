import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { serviceAddresses } from "@/app/(dashboard)/[workspace]/service-addresses";
import { formatCount } from "@/components/figures/format-count";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { Facts } from "@/components/settings/facts";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { PageHeader } from "@/components/shell/page-header";
import { Account } from "@/components/sources/account";
import { Arrivals } from "@/components/sources/arrivals";
import { Refusals } from "@/components/sources/refusals";
import { SendAgain } from "@/components/sources/send-again";
import { SourceSettingsForm } from "@/components/sources/settings-form";
import { describeSettings } from "@/components/sources/settings-form-state";
import { SetupGuide } from "@/components/sources/setup-guide";
import { SourceBadges } from "@/components/sources/source-table";
import { type SourceView, toSourceView } from "@/components/sources/source-view";
import { UnpricedModels } from "@/components/sources/unpriced-models";
import { Waiting } from "@/components/ui/step";
import { ServiceError } from "@/lib/errors";
import { readSource } from "@/lib/keys/sources/service";

type Props = { params: Promise<{ workspace: string; source: string }> };

/** Reads the source, once for each request: the page and its title both need it. */
const findSource = cache(async (slug: string, id: string) => {
  const { claims, workspace } = await requireWorkspace(slug);
  if (!/^[0-9a-f-]{36}$/i.test(id)) notFound();
  const source = await readSource(claims, workspace.slug, id).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "not_found") notFound();
    throw error;
  });
  return { workspace, source: toSourceView(source) };
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { workspace, source } = await params;
  return { title: (await findSource(workspace, source)).source.name };
}

/** A source: what was received from it, what was refused and can be sent again, what has no price, and its settings. */
export default async function SourcePage({ params }: Props) {
  const { workspace: slug, source: id } = await params;
  const { source } = await findSource(slug, id);
  const isHeard = source.last_received_at !== null;
  const address = serviceAddresses().api;
  return (
    <>
      <PageHeader
        title={source.name}
        parent={{ href: `/${slug}/sources`, label: "Sources" }}
        actions={<SourceBadges {...source} />}
      />
      <RefreshWhile isRunning={!isHeard} />
      <SettingsSections>
        <SettingsSection title="What came in">
          {source.arrivals.length > 0 ? (
            <>
              <Account account={source.account} />
              <Arrivals source={source} workspace={slug} />
            </>
          ) : (
            <Waiting>Nothing has come in yet. It will appear here.</Waiting>
          )}
          {source.program ? (
            <details>
              <summary className="w-fit cursor-pointer rounded-sm text-muted-foreground text-sm hover:text-foreground">
                How to set it up
              </summary>
              <div className="max-w-3xl pt-3">
                <SetupGuide
                  program={source.program}
                  context={{ url: address, secret: "<the key>", keyId: id, project: undefined }}
                />
              </div>
            </details>
          ) : null}
        </SettingsSection>
        {source.refusals.length > 0 ? (
          <SettingsSection
            title="Refused"
            description="Records that the key's conditions or limits refused, and requests that could not be read."
          >
            <KeptRecords
              kept={source.kept}
              canSend={source.can_edit}
              path={`/api/v1/workspaces/${slug}/sources/${id}`}
            />
            <Refusals refusals={source.refusals} />
          </SettingsSection>
        ) : null}
        {source.unpriced.length > 0 ? (
          <SettingsSection
            title="Without a price"
            description="These count as 0 until a price is set. What was recorded is corrected then."
          >
            <UnpricedModels source={source} workspace={slug} />
          </SettingsSection>
        ) : null}
        <SettingsSection
          title="Settings"
          description={`How its records are attributed. The conditions of its key hold in any case: ${source.summary}`}
        >
          {source.can_edit ? (
            <SourceSettingsForm workspace={slug} id={id} settings={source.settings} />
          ) : (
            <Facts facts={describeSettings(source.settings)} />
          )}
        </SettingsSection>
      </SettingsSections>
    </>
  );
}

/** The refused records that can be sent again, with a button for those who may. @param props.path the source's path in the API */
function KeptRecords({ kept, canSend, path }: { kept: SourceView["kept"]; canSend: boolean; path: string }) {
  if (kept.records === 0) return null;
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 rounded-lg border bg-muted/50 px-4 py-3">
      <p className="min-w-0 flex-1 basis-64 text-sm">
        {formatCount(kept.records, "refused record")} of {formatCount(kept.exports, "request")}{" "}
        {kept.records === 1 ? "is" : "are"} kept for 7 days, without prompts and answers. Widen the key or
        change the settings, then send {kept.records === 1 ? "it" : "them"} again. What was recorded meanwhile
        counts once.
      </p>
      {canSend ? <SendAgain path={path} records={kept.records} /> : null}
    </div>
  );
}
