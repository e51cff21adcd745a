import { exactText } from "@/components/figures/amount";
import { capitalize } from "@/components/figures/capitalize";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import type { ProviderLimit } from "@/lib/contract/bills/provider-limits";
import { LimitActions } from "./limit-actions";
import { formatHeld, formatTarget, limitStates, toLimitView } from "./limit-text";

/** The limits at providers that follow a budget: what the provider holds, and whether that is the budget's limit. */
export function ProviderLimits({
  limits,
  amount,
  workspace,
  canEdit,
}: {
  limits: ProviderLimit[];
  /** The budget's present limit, USD as exact text. */
  amount?: string | undefined;
  workspace: string;
  canEdit: boolean;
}) {
  if (limits.length === 0) return null;
  return (
    <ul aria-label="Limits at providers" className="grid gap-3 border-t pt-3 text-sm">
      {limits.map((limit) => (
        <li key={limit.id} className="flex items-start justify-between gap-3">
          <div className="grid min-w-0 gap-0.5 [overflow-wrap:anywhere]">
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              {formatTarget(limit)}
              <Badge variant={limitStates[limit.state].variant}>{limitStates[limit.state].label}</Badge>
            </span>
            <Standing limit={limit} amount={amount} />
            {limit.problem === null ? null : (
              <span className="text-destructive text-xs">
                {limit.problem}
                {limit.state === "waiting" || limit.state === "equal" ? " It is tried again." : null}
              </span>
            )}
          </div>
          {canEdit ? <LimitActions workspace={workspace} limit={toLimitView(limit)} /> : null}
        </li>
      ))}
    </ul>
  );
}

/** What the provider holds beside what the budget wants, and when that was read. */
function Standing({ limit, amount }: { limit: ProviderLimit; amount: string | undefined }) {
  const { held, read_at: readAt, limit_usd: wantedUsd } = limit;
  const { wanted } = toLimitView(limit);
  if (held === null || readAt === null)
    return wanted === "" ? null : (
      <span className="text-muted-foreground text-xs">{wanted}, not set there yet</span>
    );
  const holds = formatHeld(held);
  const isCut = wantedUsd !== null && amount !== undefined && exactText(wantedUsd) !== amount;
  return (
    <span className="text-muted-foreground text-xs">
      {holds === wanted || wanted === "" ? (
        holds
      ) : (
        <>
          <span className="text-foreground">{capitalize(holds)} there</span>, {wanted} in the budget
        </>
      )}
      {isCut ? " (rounded down)" : null}, read <Time at={readAt} />
    </span>
  );
}
