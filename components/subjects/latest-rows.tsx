import { toItem } from "@/components/activity/row";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Link } from "@/components/ui/link";
import type { ActivityRow } from "@/lib/contract/spend/activity";

/** Some rows of activity, the latest first. Each leads to all that is known about it. */
export function LatestRows({ rows, hrefOf }: { rows: ActivityRow[]; hrefOf: (message: string) => string }) {
  return (
    <ul>
      {rows.map(toItem).map(({ id, part, at, label, about, project, recordedBy, usd, hasNoPrice }) => (
        <li key={`${id} ${part}`} className="flex items-baseline gap-x-4 border-t py-2 text-sm">
          <span className="min-w-0 flex-1">
            <Link
              href={hrefOf(id)}
              prefetch={false}
              dir="auto"
              className="block truncate rounded-sm text-left hover:underline"
            >
              {label}
            </Link>
            <span dir="auto" className="block truncate text-left text-muted-foreground text-xs">
              {[about, project, recordedBy].filter(Boolean).join(" · ")}
            </span>
          </span>
          <span className="whitespace-nowrap text-muted-foreground text-xs">
            <Time at={at} />
          </span>
          <span className="min-w-24 whitespace-nowrap text-right">
            {hasNoPrice ? "No price" : <Money usd={usd} />}
          </span>
        </li>
      ))}
    </ul>
  );
}
