import { CircleCheck } from "lucide-react";
import { formatCount } from "@/components/figures/format-count";
import { Money } from "@/components/figures/money";
import { activityHref } from "@/components/filters/href";
import { Alert } from "@/components/ui/alert";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { Waiting } from "@/components/ui/step";
import type { SourceView } from "./source-view";

/** The first record of a source, why its records were refused, or a note that the first one is awaited. */
export function FirstRecord({ source, workspace }: { source: SourceView | undefined; workspace: string }) {
  const first = source?.arrivals.find(({ latest }) => latest !== null);
  const latest = first?.latest;
  const [refusal] = source?.refusals ?? [];
  if (source && first && latest) {
    const environment = source.environment === "test" ? "test" : undefined;
    return (
      <div className="grid justify-items-start gap-3 transition-opacity duration-120 starting:opacity-0">
        <p className="flex flex-wrap items-center gap-x-2 text-sm [overflow-wrap:anywhere]">
          <CircleCheck aria-hidden="true" className="size-4 shrink-0 text-success" />
          <span>
            First record received: {first.emitter}, {latest.model ?? latest.provider ?? "unknown model"},{" "}
            {latest.cost_status === "unpriced" ? (
              "no price known yet"
            ) : (
              <Money usd={latest.amount_usd} figure="amount_usd" />
            )}
            {latest.cost_status === "included" ? ", covered by a subscription" : null}
          </span>
        </p>
        <div className="flex flex-wrap gap-2">
          <Link
            href={activityHref(workspace, { key: source.id, period: "all", environment })}
            className={buttonVariants()}
          >
            Show the records
          </Link>
          <Link
            href={`/${workspace}/sources/${source.id}`}
            className={buttonVariants({ variant: "outline" })}
          >
            Open the source
          </Link>
        </div>
      </div>
    );
  }
  return (
    <div className="grid justify-items-start gap-3">
      <Waiting>Waiting for the first record. It will appear here.</Waiting>
      {source && refusal ? (
        <Alert variant="warning" className="grid gap-1">
          <p>
            {formatCount(refusal.count, refusal.example ? "record" : "request")}{" "}
            {refusal.count === 1 ? "was" : "were"} refused. {refusal.description}
          </p>
          <Link href={`/${workspace}/sources/${source.id}`} className="w-fit underline underline-offset-4">
            See what was refused
          </Link>
        </Alert>
      ) : null}
    </div>
  );
}
