import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import type { KeyBudget } from "./key-view";

/** The budgets that can count what a key records: what is left of each, when it resets, and whether it blocks. */
export function CoveringBudgets({ budgets, workspace }: { budgets: KeyBudget[]; workspace: string }) {
  return (
    <section aria-labelledby="covering-budgets" className="grid gap-2 rounded-lg border p-3.5 text-[13px]">
      <h3 id="covering-budgets" className="font-medium">
        Budgets that cover this key
      </h3>
      {budgets.length === 0 ? (
        <p className="text-muted-foreground">None. Only the key's own limit applies.</p>
      ) : (
        <ul className="grid max-h-40 gap-1.5 overflow-y-auto">
          {budgets.map((budget) => (
            <li key={budget.id} className="flex flex-wrap items-baseline justify-between gap-x-3 gap-y-0.5">
              <span className="flex flex-wrap items-center gap-x-2">
                <Link
                  href={`/${workspace}/budgets#budget-${budget.id}`}
                  prefetch={false}
                  className="rounded-sm underline-offset-4 [overflow-wrap:anywhere] hover:underline"
                >
                  {budget.name}
                </Link>
                <Badge variant={budget.blocks && budget.is_used_up ? "destructive" : "outline"}>
                  {budget.blocks ? "Refuses to record" : "Warns"}
                </Badge>
              </span>
              <span className="text-muted-foreground tabular-nums">
                <Money usd={budget.remaining} figure="remaining" /> of{" "}
                <Money usd={budget.limit} figure="limit" /> left until <Time at={budget.resets_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
