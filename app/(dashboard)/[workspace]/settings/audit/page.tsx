import { Lock, ScrollText } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { AuditList } from "@/components/audit/audit-list";
import { kinds } from "@/components/audit/entry";
import { KindFilter } from "@/components/audit/kind-filter";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { SettingsSection } from "@/components/settings/settings-section";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { listAudit } from "@/lib/access/audit/service";
import { auditQuery } from "@/lib/contract/audit";
import { ServiceError } from "@/lib/errors";

export const metadata: Metadata = { title: "Audit log" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

const rowsAPage = 50;

/** Who changed what in a workspace, for its admins. */
export default async function AuditPage({ params, searchParams }: Props) {
  const { claims, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  if (role !== "owner" && role !== "admin") return <ForAdmins />;
  const { kind, cursor } = await searchParams;
  const path = `/${slug}/settings/audit`;
  const asked = auditQuery.safeParse({ kind, cursor, limit: rowsAPage });
  const log = asked.success ? await listAudit(claims, slug, asked.data).catch(undefinedIfRefused) : undefined;
  if (!log || (asked.data?.kind && !kinds[asked.data.kind])) return <NotUnderstood path={path} />;
  const { entries, next_cursor: next } = log;
  const filter = { kind: asked.data?.kind };
  return (
    <SettingsSection
      title="Audit log"
      description="Every change of settings, people, keys, budgets and prices. Nobody can alter it. Open a line for what it was before and is after."
      actions={<KindFilter path={path} kind={filter.kind} />}
    >
      {entries.length === 0 ? (
        <EmptyState icon={<ScrollText />} title="Nothing was changed yet">
          {filter.kind ? "At least none of these." : "Changes appear here the moment they are made."}
        </EmptyState>
      ) : (
        <AuditList entries={entries} />
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

/** A cursor that somebody mistyped is no failure of ours. */
function undefinedIfRefused(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "validation_failed") return undefined;
  throw error;
}

function ForAdmins() {
  return (
    <SettingsSection title="Audit log">
      <EmptyState icon={<Lock />} title="The audit log is for admins">
        It names people and the addresses they came from. An admin or owner of this workspace can look
        something up for you, or give you the role.
      </EmptyState>
    </SettingsSection>
  );
}

function NotUnderstood({ path }: { path: string }) {
  return (
    <SettingsSection title="Audit log">
      <EmptyState
        title="This address asks for something there is not"
        action={
          <Link href={path} className={buttonVariants({ variant: "outline" })}>
            Show all changes
          </Link>
        }
      />
    </SettingsSection>
  );
}
