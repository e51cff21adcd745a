import { Plug } from "lucide-react";
import type { Metadata } from "next";
import { assistantSetups } from "@/components/connections/assistants";
import { ConnectionTable } from "@/components/connections/connection-table";
import { connectionsId, toConnectionView } from "@/components/connections/connection-view";
import { PageHeader } from "@/components/shell/page-header";
import { CodeBlock } from "@/components/ui/code-block";
import { EmptyState } from "@/components/ui/empty-state";
import { Tabs } from "@/components/ui/tabs";
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

/** Instructions to connect an assistant, with a tab for each common one. @param props.url the agent tools' endpoint */
function ConnectGuide({ url }: { url: string }) {
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
  return (
    <section aria-labelledby="connect" className="grid max-w-3xl gap-3">
      <div className="grid gap-1">
        <h2 id="connect" className="font-medium text-sm">
          Connect an assistant
        </h2>
        <p className="text-muted-foreground text-sm">
          The assistant asks you to sign in here. You choose the workspace and what the assistant may do.
        </p>
      </div>
      <Tabs
        label="Assistants"
        tabs={assistantSetups(url).map(({ name, title, language, code, steps, isHosted }) => ({
          id: name.replaceAll(" ", "-"),
          label: name,
          content: (
            <div className="grid gap-2.5">
              <p className="text-sm">{steps}</p>
              <CodeBlock title={title} language={language} code={code} />
              {isHosted && isLocal ? (
                <p className="text-muted-foreground text-sm">
                  {name} connects from its provider's servers, which cannot reach this machine's local
                  address. Serve Outlay at a public address first.
                </p>
              ) : null}
            </div>
          ),
        }))}
      />
    </section>
  );
}
