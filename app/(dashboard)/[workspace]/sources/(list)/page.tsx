import { Plus, Radio } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { PageHeader } from "@/components/shell/page-header";
import { SourceTable, summarizeSources } from "@/components/sources/source-table";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { listSources } from "@/lib/keys/sources/service";

export const metadata: Metadata = { title: "Sources" };

type Props = { params: Promise<{ workspace: string }> };

/** The sources of a workspace: the programs that send their costs, what was received, and which are silent. */
export default async function SourcesPage({ params }: Props) {
  const {
    claims,
    workspace: { slug },
  } = await requireWorkspace((await params).workspace);
  const { sources, can_create: canCreate } = await listSources(claims, slug);
  const add = canCreate ? (
    <Link href={`/${slug}/sources/new`} className={buttonVariants()}>
      <Plus aria-hidden="true" />
      Add a source
    </Link>
  ) : null;
  return (
    <>
      <PageHeader title="Sources" actions={sources.length > 0 ? add : null} />
      {sources.length === 0 ? (
        <EmptyState icon={<Radio />} title="No source yet" action={add}>
          A source is a program that reports what its model calls cost, such as Claude Code, Codex, the AI SDK
          or LiteLLM. You give it an address and a key; you write no code.
          {canCreate ? null : " Members of this workspace can add one."}
        </EmptyState>
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
          <p className="max-w-[70ch]">{summarizeSources(sources)}</p>
          <SourceTable sources={sources} workspace={slug} />
        </div>
      )}
    </>
  );
}
