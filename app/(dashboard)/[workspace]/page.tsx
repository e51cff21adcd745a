import { Suspense } from "react";
import { writeSnippets } from "@/components/docs/snippets";
import { BudgetSentence } from "@/components/overview/budget-sentence";
import { Headline } from "@/components/overview/headline";
import { OverviewSkeleton } from "@/components/overview/overview-skeleton";
import { ProjectTable } from "@/components/overview/project-table";
import { PageHeader } from "@/components/shell/page-header";
import { CodeBlock } from "@/components/ui/code-block";
import { serviceAddress } from "@/lib/address";
import { requestExamples } from "@/lib/contract/examples";
import { readOverview } from "@/lib/reads/overview";
import { requireWorkspace } from "./membership";

type Props = { params: Promise<{ workspace: string }> };

/** A workspace at a glance: are we fine? */
export default async function OverviewPage({ params }: Props) {
  const { workspace } = await params;
  return (
    <>
      <PageHeader title="Overview" />
      <Suspense fallback={<OverviewSkeleton />}>
        <Overview slug={workspace} />
      </Suspense>
    </>
  );
}

async function Overview({ slug }: { slug: string }) {
  const { claims, profile, workspace } = await requireWorkspace(slug);
  const overview = await readOverview(claims, workspace.id, Date.now());
  if (overview.isNew) return <FirstCost name={profile.display_name} />;
  const { projects, budgets, unpriced } = overview;
  const whole = budgets.find(({ isWhole }) => isWhole);
  return (
    <div className="grid gap-10">
      <div className="grid gap-3">
        <Headline {...overview} budget={whole?.amount} />
        <BudgetSentence budgets={budgets} />
        {unpriced > 0 ? (
          <p className="text-muted-foreground text-sm">
            {unpriced === 1 ? "One line of usage has" : `${unpriced} lines of usage have`} no known price yet
            and {unpriced === 1 ? "counts" : "count"} nothing until it is set.
          </p>
        ) : null}
      </div>
      <section aria-labelledby="by-project" className="max-w-3xl">
        <h2 id="by-project" className="pb-2 font-medium text-sm">
          By project
        </h2>
        {projects.length > 0 ? (
          <ProjectTable projects={projects} />
        ) : (
          <p className="border-t py-6 text-muted-foreground text-sm">Nothing was recorded this month yet.</p>
        )}
      </section>
    </div>
  );
}

/** What a workspace shows before its first message: how to send it. */
function FirstCost({ name }: { name: string | null }) {
  const [curl] = writeSnippets({
    method: "POST",
    url: `${serviceAddress()}/api/v1/messages`,
    credential: "key",
    body: requestExamples.CostMessage?.usage?.value,
  });
  return (
    <div className="max-w-3xl">
      <p className="text-lg sm:text-xl">{name ? `Welcome, ${name}. ` : ""}Nothing was recorded here yet.</p>
      <p className="mt-1 mb-5 text-muted-foreground">
        Put an API key of this workspace into <code className="font-mono text-[0.9em]">OUTLAY_API_KEY</code>{" "}
        and send what was used. The project is made by the first message that names it.
      </p>
      {curl ? <CodeBlock code={curl.code} language={curl.language} title="Record a cost" /> : null}
    </div>
  );
}
