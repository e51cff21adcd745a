import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { serviceAddresses } from "@/app/(dashboard)/[workspace]/service-addresses";
import type { SearchParams } from "@/components/filters/href";
import { PageHeader } from "@/components/shell/page-header";
import { AddSource } from "@/components/sources/add-source";
import { EmptyState } from "@/components/ui/empty-state";
import { sourcePrograms } from "@/lib/contract/sources/source-programs";
import { listApiKeys } from "@/lib/keys/management/service";

export const metadata: Metadata = { title: "Add a source" };

type Props = { params: Promise<{ workspace: string }>; searchParams: Promise<SearchParams> };

/** Adds a source: the program, its key, the lines to paste, and the first record. */
export default async function NewSourcePage({ params, searchParams }: Props) {
  const {
    claims,
    workspace: { slug, role },
  } = await requireWorkspace((await params).workspace);
  const { program } = await searchParams;
  const keys = role === "viewer" ? [] : (await listApiKeys(claims, slug)).api_keys;
  return (
    <>
      <PageHeader title="Add a source" parent={{ href: `/${slug}/sources`, label: "Sources" }} />
      {role === "viewer" ? (
        <EmptyState title="Viewers cannot add a source">Ask a member of this workspace.</EmptyState>
      ) : (
        <AddSource
          workspace={slug}
          url={serviceAddresses().api}
          takenNames={keys.map(({ name }) => name)}
          chosen={sourcePrograms.find((each) => each === program)}
        />
      )}
    </>
  );
}
