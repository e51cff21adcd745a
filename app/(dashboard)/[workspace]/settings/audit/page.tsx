import { Lock, ScrollText } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { clockNow } from "@/app/(dashboard)/[workspace]/page-range";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { AuditFilterBar } from "@/components/audit/audit-filter-bar";
import { AuditTable } from "@/components/audit/audit-table";
import { toAuditView } from "@/components/audit/audit-view";
import { type AuditEntry, kinds } from "@/components/audit/entry";
import { actorName, noUser } from "@/components/audit/format-entry";
import { formatNumber } from "@/components/figures/format-count";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { SettingsSection } from "@/components/settings/settings-section";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listAudit } from "@/lib/access/audit/service";
import { maxSearchedEntries } from "@/lib/contract/access/audit";
import { ServiceError } from "@/lib/errors";
import { parseAuditSearch } from "./search";

export const metadata: Metadata = { title: "Audit log" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** The audit log of a workspace, for admins. States: entries, none, none that match, not an admin, and an invalid address. */
export default async function AuditPage({ params, searchParams }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  if (role !== "owner" && role !== "admin") return <OnlyForAdmins />;
  const path = `/${slug}/settings/audit`;
  const search = parseAuditSearch(await searchParams, clockNow(workspace));
  if (search.problem !== undefined) return <InvalidAddress path={path} problem={search.problem} />;
  const { query, range, params: filters } = search;
  const log = await listAudit(claims, slug, query).catch(undefinedIfInvalid);
  if (!log || (query.kind && !kinds[query.kind])) return <InvalidAddress path={path} />;
  const { entries, next_cursor: next } = log;
  const { order, ...others } = filters;
  const isNewest = query.order === "newest";
  const [first] = entries;
  return (
    <SettingsSection
      title="Audit log"
      description="Every change of settings, members, keys, budgets and prices. Entries cannot be changed. Open an entry to see the values before and after."
    >
      <AuditFilterBar
        workspace={slug}
        path={path}
        params={filters}
        range={range}
        actorName={nameActor(query.actor, first)}
        keyName={query.key && (first?.key?.name ?? query.key)}
      />
      {entries.length === 0 ? (
        <NoChanges
          isFiltered={Object.keys(others).length > 0}
          hasMore={next !== null}
          isFirst={!query.cursor}
        />
      ) : (
        <AuditTable
          entries={entries.map((entry) => toAuditView(entry, path))}
          workspace={slug}
          views={await readRememberedViews(user.id)}
        />
      )}
      <div className="flex justify-center gap-2">
        {query.cursor ? (
          <Link href={hrefWith(path, filters, {})} className={buttonVariants({ variant: "outline" })}>
            {isNewest ? "Back to the newest" : "Back to the oldest"}
          </Link>
        ) : null}
        {next ? (
          <Link
            href={hrefWith(path, filters, { cursor: next })}
            className={buttonVariants({ variant: "outline" })}
          >
            {isNewest ? "Show older" : "Show newer"}
          </Link>
        ) : null}
      </div>
    </SettingsSection>
  );
}

/** The name of the person whose changes are shown. @param first one of these changes, which has the name */
function nameActor(actor: string | null | undefined, first: AuditEntry | undefined): string | undefined {
  if (actor === undefined) return undefined;
  if (actor === null) return noUser;
  return first ? actorName(first) : "One person";
}

function NoChanges({
  isFiltered,
  hasMore,
  isFirst,
}: {
  isFiltered: boolean;
  hasMore: boolean;
  isFirst: boolean;
}) {
  if (hasMore) {
    return (
      <EmptyState icon={<ScrollText />} title="Nothing found so far">
        {isFirst ? "The first" : "Another"} {formatNumber(maxSearchedEntries)} changes were searched. Show the
        next ones, or choose days, a person or a kind.
      </EmptyState>
    );
  }
  return isFiltered ? (
    <EmptyState icon={<ScrollText />} title="No changes match these filters">
      Remove a filter, or choose a longer period.
    </EmptyState>
  ) : (
    <EmptyState icon={<ScrollText />} title="No changes yet">
      Changes appear here as soon as they are made.
    </EmptyState>
  );
}

/** Converts the error of an invalid cursor to undefined, to avoid an error page. */
function undefinedIfInvalid(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "validation_failed") return undefined;
  throw error;
}

function OnlyForAdmins() {
  return (
    <SettingsSection title="Audit log">
      <EmptyState icon={<Lock />} title="The audit log is for admins">
        The audit log contains names and IP addresses, so only admins can read it. Ask an admin of this
        workspace to look something up, or to make you an admin.
      </EmptyState>
    </SettingsSection>
  );
}

function InvalidAddress({ path, problem }: { path: string; problem?: string }) {
  return (
    <SettingsSection title="Audit log">
      <EmptyState
        title="This address is not valid"
        action={
          <Link href={path} className={buttonVariants({ variant: "outline" })}>
            Show all changes
          </Link>
        }
      >
        {problem ? `A parameter of the address is wrong: ${problem}.` : null}
      </EmptyState>
    </SettingsSection>
  );
}
