import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { ImportFile } from "./import-file";

export const metadata: Metadata = { title: "Import" };

type Props = { params: Promise<{ workspace: string }> };

/** The page that imports a CSV file. Viewers are told that they cannot. */
export default async function ImportPage({ params }: Props) {
  const { workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  return (
    <>
      <PageHeader title="Import" parent={{ href: `/${slug}/activity`, label: "Activity" }} />
      {role === "viewer" ? (
        <EmptyState title="Viewers cannot record costs">
          Viewers cannot import costs. Ask an admin of this workspace to make you a member.
        </EmptyState>
      ) : (
        <ImportFile workspace={slug} />
      )}
    </>
  );
}
