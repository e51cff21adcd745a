import { formatCount } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { Badge } from "@/components/ui/badge";
import type { Erasure } from "@/lib/contract/spend/people";

/** The erasures of people, by their pseudonyms, with the progress of those under way. */
export function ErasureList({ erasures }: { erasures: Erasure[] }) {
  return (
    <ul className="divide-y border-y text-sm" aria-label="Erased people">
      {erasures.map(({ id, pseudonym, status, changed_count: changed, finished_at: finished }) => (
        <li key={id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2.5">
          <code className="font-mono text-[13px]">{pseudonym}</code>
          <span className="text-muted-foreground">
            {finished ? (
              `${formatCount(changed, "posting")}, erased on ${formatDate(finished.slice(0, 10))}`
            ) : (
              <Badge>{status === "pending" ? "Waiting" : "Being erased"}</Badge>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
