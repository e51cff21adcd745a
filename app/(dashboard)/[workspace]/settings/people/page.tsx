import { Users } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { formatCount } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { peopleId } from "@/components/people/people-id";
import { PeopleTable } from "@/components/people/people-table";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { Badge } from "@/components/ui/badge";
import { EmptyState } from "@/components/ui/empty-state";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import type { Erasure } from "@/lib/contract/spend/people";
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
              : "The people that messages name as “user”, by live spend, at most 100. They do not need an account."
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

/** The erasures of people, by their pseudonyms, with the progress of those under way. */
function ErasureList({ erasures }: { erasures: Erasure[] }) {
  return (
    <ul className="divide-y border-y text-sm" aria-label="Erased people">
      {erasures.map(({ id, pseudonym, status, changed_count: changed, finished_at: finished }) => (
        <li key={id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2.5">
          <code className="font-mono text-[13px]">{pseudonym}</code>
          <span className="text-muted-foreground">
            {finished ? (
              `${formatCount(changed, "posting")}, erased on ${formatDate(finished.slice(0, 10))}`
            ) : (
              <Badge>{status === "pending" ? "Waiting" : "Being erased"}</Badge>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
