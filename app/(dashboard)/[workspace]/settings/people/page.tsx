import { Users } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { ErasureList } from "@/components/people/erasure-list";
import { peopleId } from "@/components/people/people-id";
import { PeopleTable } from "@/components/people/people-table";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { EmptyState } from "@/components/ui/empty-state";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { listErasures } from "@/lib/ledger/erasure/service";
import { readMetrics } from "@/lib/spend/metrics/service";

export const metadata: Metadata = { title: "People" };

type Props = { params: Promise<{ workspace: string }> };

/** The people whom usage was for, and the erased ones. Admins have a person erased here. */
export default async function PeoplePage({ params }: Props) {
  const { claims, workspace, reader } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const canErase = role === "owner" || role === "admin";
  const query = metricsQuery.parse({ period: "all", group_by: "user", currency: reader.display?.currency });
  const { by_user: slices } = await readMetrics(claims, slug, query);
  const { erasures } = canErase ? await listErasures(claims, slug) : { erasures: [] };
  const people = slices.filter(({ value }) => value !== null);
  return (
    <SettingsSections>
      <RefreshWhile isRunning={erasures.some(({ status }) => status !== "done")} />
      <div id={peopleId} tabIndex={-1} className="outline-none">
        <SettingsSection
          title="People"
          description={
            people.length === 0
              ? undefined
              : "The people named in your messages as `user`, by live spend: at most 100. They need no account."
          }
        >
          {people.length === 0 ? (
            <EmptyState icon={<Users />} title="Nobody is named yet">
              Usage that is recorded with a <code className="font-mono">user</code> appears here by person.
            </EmptyState>
          ) : (
            <PeopleTable workspace={slug} people={people} canErase={canErase} />
          )}
        </SettingsSection>
      </div>
      {erasures.length === 0 ? null : (
        <SettingsSection
          title="Erased"
          description="A pseudonym replaces each name and cannot be traced back to it."
        >
          <ErasureList erasures={erasures} />
        </SettingsSection>
      )}
    </SettingsSections>
  );
}
