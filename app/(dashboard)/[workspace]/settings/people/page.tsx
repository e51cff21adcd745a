import { Users } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { asProp } from "@/components/figures/amount";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { activityHref } from "@/components/filters/href";
import { peopleId } from "@/components/people/people-id";
import { PeopleTable } from "@/components/people/people-table";
import { RefreshWhile } from "@/components/prices/refresh-while";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { AddSourceLink } from "@/components/sources/add-source-link";
import { Badge } from "@/components/ui/badge";
import { EmptyState } from "@/components/ui/empty-state";
import { rangeQuery } from "@/lib/contract/spend/ledger-query";
import type { Erasure } from "@/lib/contract/spend/people";
import { listErasures } from "@/lib/ledger/erasure/service";
import { listSubjects } from "@/lib/spend/subjects/service";

export const metadata: Metadata = { title: "People" };

type Props = { params: Promise<{ workspace: string }> };

/** The people whom usage was for, and the erased ones. Admins erase people here. */
export default async function PeoplePage({ params }: Props) {
  const { claims, user, workspace, reader } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const canErase = role === "owner" || role === "admin";
  const query = { ...rangeQuery.parse({ period: "all" }), dimension: "user", environment: "live" } as const;
  const { subjects, found } = await listSubjects(claims, slug, query, reader.display?.currency);
  const { erasures } = canErase ? await listErasures(claims, slug) : { erasures: [] };
  return (
    <SettingsSections>
      <RefreshWhile isRunning={erasures.some(({ status }) => status !== "done")} />
      <div id={peopleId} tabIndex={-1} className="outline-none">
        <SettingsSection
          title="People"
          description={subjects.length === 0 ? undefined : introduce(subjects.length, found)}
        >
          {subjects.length === 0 ? (
            <EmptyState
              icon={<Users />}
              title="Nobody is named yet"
              action={<AddSourceLink workspace={workspace} />}
            >
              Usage that is recorded with a <code className="font-mono">user</code> appears here by person.
            </EmptyState>
          ) : (
            <PeopleTable
              workspace={slug}
              people={subjects.map(({ name, spent, messages, unpriced }) => ({
                ...{ name, messages, unpriced },
                href: activityHref(slug, { period: "all", user: name }),
                spent: asProp(spent),
              }))}
              canErase={canErase}
              views={await readRememberedViews(user.id)}
            />
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

function introduce(listed: number, found: number): string {
  const who = "The people that messages name as “user”, with their live spend. They do not need an account.";
  if (found === listed) return who;
  return `${who} These are the ${formatNumber(listed)} of ${formatNumber(found)} with the highest spend.`;
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
