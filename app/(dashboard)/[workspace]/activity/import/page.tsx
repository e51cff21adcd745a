import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { ImportFile } from "./import-file";

export const metadata: Metadata = { title: "Import" };

type Props = { params: Promise<{ workspace: string }> };

/** Records the rows of a CSV file. */
export default async function ImportPage({ params }: Props) {
  const { workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  return (
    <>
      <PageHeader title="Import" parent={{ href: `/${slug}/activity`, label: "Activity" }} />
      {role === "viewer" ? (
        <EmptyState title="Viewers cannot record costs">
          You see everything in this workspace. Ask one of its admins for the role member to import.
        </EmptyState>
      ) : (
        <ImportFile workspace={slug} />
      )}
    </>
  );
}
