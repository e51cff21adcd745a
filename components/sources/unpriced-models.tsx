import { formatCount } from "@/components/figures/format-count";
import { activityHref } from "@/components/filters/href";
import { Link } from "@/components/ui/link";
import type { SourceView } from "./source-view";

/** The models of a source that have no price, with links to their rows and to where a price is set. */
export function UnpricedModels({ source, workspace }: { source: SourceView; workspace: string }) {
  const environment = source.environment === "test" ? "test" : undefined;
  return (
    <div className="grid gap-3">
      <ul className="divide-y rounded-lg border">
        {source.unpriced.map(({ provider, model, line_count: count }) => (
          <li
            key={`${provider} ${model}`}
            className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 px-4 py-2.5 text-sm"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {model ?? "no model"} <span className="text-muted-foreground">{provider}</span>
            </span>
            <Link
              href={activityHref(workspace, {
                key: source.id,
                provider,
                model,
                cost_status: "unpriced",
                period: "all",
                environment,
              })}
              className="rounded-sm text-muted-foreground text-xs underline underline-offset-4 hover:text-foreground"
            >
              {formatCount(count, "line")}
            </Link>
          </li>
        ))}
      </ul>
      <Link
        href={`/${workspace}/settings/prices`}
        className="w-fit rounded-sm text-sm underline underline-offset-4"
      >
        Set prices
      </Link>
    </div>
  );
}
