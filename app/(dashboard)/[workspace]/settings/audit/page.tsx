import { Lock, ScrollText } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { AuditTable } from "@/components/audit/audit-table";
import { toAuditView } from "@/components/audit/audit-view";
import { kinds } from "@/components/audit/entry";
import { KindFilter } from "@/components/audit/kind-filter";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { Link } from "@/components/link";
import { SettingsSection } from "@/components/settings/settings-section";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { listAudit } from "@/lib/access/audit/service";
import { auditQuery } from "@/lib/contract/audit";
import { ServiceError } from "@/lib/errors";

export const metadata: Metadata = { title: "Audit log" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

const rowsPerPage = 50;

/** The audit log of a workspace, for admins. States: entries, none, not an admin, and an invalid address. */
export default async function AuditPage({ params, searchParams }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  if (role !== "owner" && role !== "admin") return <OnlyForAdmins />;
  const { kind, cursor } = await searchParams;
  const path = `/${slug}/settings/audit`;
  const query = auditQuery.safeParse({ kind, cursor, limit: rowsPerPage });
  const log = query.success ? await listAudit(claims, slug, query.data).catch(undefinedIfInvalid) : undefined;
  if (!log || (query.data?.kind && !kinds[query.data.kind])) return <InvalidAddress path={path} />;
  const { entries, next_cursor: next } = log;
  const filter = { kind: query.data?.kind };
  return (
    <SettingsSection
      title="Audit log"
      description="Every change of settings, members, keys, budgets and prices. Entries cannot be changed. Open an entry to see the values before and after."
      actions={<KindFilter path={path} kind={filter.kind} />}
    >
      {entries.length === 0 ? (
        <EmptyState icon={<ScrollText />} title="No changes yet">
          {filter.kind
            ? "There are no changes of this kind."
            : "Changes appear here as soon as they are made."}
        </EmptyState>
      ) : (
        <AuditTable
          entries={entries.map(toAuditView)}
          workspace={slug}
          views={await readRememberedViews(user.id)}
        />
      )}
      <div className="flex justify-center gap-2">
        {cursor ? (
          <Link href={hrefWith(path, filter, {})} className={buttonVariants({ variant: "outline" })}>
            Back to the newest
          </Link>
        ) : null}
        {next ? (
          <Link
            href={hrefWith(path, filter, { cursor: next })}
            className={buttonVariants({ variant: "outline" })}
          >
            Show older
          </Link>
        ) : null}
      </div>
    </SettingsSection>
  );
}

/** For an invalid cursor, undefined instead of an error page. */
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

function InvalidAddress({ path }: { path: string }) {
  return (
    <SettingsSection title="Audit log">
      <EmptyState
        title="This address is not valid"
        action={
          <Link href={path} className={buttonVariants({ variant: "outline" })}>
            Show all changes
          </Link>
        }
      />
    </SettingsSection>
  );
}
