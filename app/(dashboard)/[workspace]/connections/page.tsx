import { Plug } from "lucide-react";
import type { Metadata } from "next";
import { ConnectGuide } from "@/components/connections/connect-guide";
import { ConnectionTable } from "@/components/connections/connection-table";
import { connectionsId, toConnectionView } from "@/components/connections/connection-view";
import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { listConnections } from "@/lib/access/oauth/connections";
import { requireWorkspace } from "../membership";
import { readRememberedViews } from "../remembered-views";
import { serviceAddresses } from "../service-addresses";

export const metadata: Metadata = { title: "Connections" };

type Props = { params: Promise<{ workspace: string }> };

/** The assistants that members have connected to a workspace, and how to connect another one. */
export default async function ConnectionsPage({ params }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { connections } = await listConnections(claims, workspace.slug);
  return (
    <>
      <PageHeader title="Connections" />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-10">
        <section
          id={connectionsId}
          tabIndex={-1}
          aria-label="Connected assistants"
          className="min-w-0 outline-none"
        >
          {connections.length === 0 ? (
            <EmptyState icon={<Plug />} title="No assistant is connected">
              A connected assistant answers questions about spend and records costs. It has only the
              permissions that you grant.
            </EmptyState>
          ) : (
            <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
              <p>
                {connections.length === 1
                  ? "One assistant is connected."
                  : `${connections.length} assistants are connected.`}
              </p>
              <ConnectionTable
                connections={connections.map(toConnectionView)}
                views={await readRememberedViews(user.id)}
                workspace={workspace.slug}
              />
            </div>
          )}
        </section>
        <ConnectGuide url={serviceAddresses().mcp} />
      </div>
    </>
  );
}
