"use client";

import { useEffect, useState } from "react";
import type { z } from "zod";
import { formatDay } from "@/components/figures/format-date";
import { formatExactPercent, formatPercent } from "@/components/figures/format-percent";
import { formatUsd } from "@/components/figures/money";
import { callApi, writeExactNumber } from "@/components/requests/api";
import { cn } from "@/components/ui/cn";
import type { BudgetPreview, budgetPreview, createBudgetRequest } from "@/lib/contract/spend/budgets";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { isUsedUp } from "./budget-badge";
import { presentPeriod } from "./budget-view";

type Request = z.input<typeof createBudgetRequest>;

/** The pause in typing after which a preview is read. */
const waitMs = 500;

/**
 * Shows what a budget would show and do if it were created or changed now, while its fields are being filled in.
 * @param request the budget; undefined while something is missing or wrong
 */
export function BudgetPreviewText({
  workspace,
  request,
}: {
  workspace: string;
  request: Request | undefined;
}) {
  const { shown, isCurrent } = usePreview(workspace, request);
  return (
    <section
      aria-label="Preview"
      aria-live="polite"
      aria-busy={request !== undefined && !isCurrent}
      // Reserves the usual height of the text, so that the buttons do not move.
      className={cn(
        "grid min-h-28 content-start gap-1 rounded-md border bg-muted/40 p-3 text-sm",
        !isCurrent && "text-muted-foreground",
      )}
    >
      {request === undefined || shown === undefined ? (
        <p className="text-muted-foreground">
          {request === undefined
            ? "Enter a limit to see what the budget would have done so far."
            : shown === undefined && isCurrent
              ? "There is no preview of this budget."
              : "Looking at what is spent…"}
        </p>
      ) : (
        <Sentences preview={shown} />
      )}
    </section>
  );
}

function Sentences({ preview }: { preview: BudgetPreview }) {
  const { spent, amount, percent_used: used, period, would_refuse: refuse, scope } = preview;
  const yesterday = refuse?.yesterday;
  return (
    <>
      <p>
        <span className="font-medium tabular-nums">{formatUsd(spent)}</span> of {formatUsd(amount)} is spent{" "}
        {presentPeriod[period]} ({formatPercent(used)}).
      </p>
      <p>{warnSentence(preview)}</p>
      {refuse ? (
        <p className={isUsedUp(preview) ? "text-destructive" : undefined}>
          {refuse.now ? "It would refuse to record every cost now." : "It would refuse nothing yet."}
          {yesterday && yesterday.cost_count > 0
            ? ` Yesterday, it would have refused ${yesterday.refused_count} of ${yesterday.cost_count} ${yesterday.cost_count === 1 ? "cost" : "costs"}.`
            : null}
        </p>
      ) : null}
      {preview.is_known_scope ? null : (
        <p className="text-warning [overflow-wrap:anywhere]">No cost names {scope.value} yet.</p>
      )}
    </>
  );
}

const conjunction = new Intl.ListFormat("en");

/** When a budget would have warned, in words: "It would have warned at 50% on Nov 8 and at 80% on Nov 15." */
export function warnSentence({ would_warn: warned, alert_at: alertAt }: BudgetPreview): string {
  if (alertAt.percent.length + alertAt.usd.length === 0) return "It warns at no threshold.";
  if (warned.length === 0) return "It would not have warned yet.";
  const parts = warned.map(({ level, on }) => {
    const threshold = level.startsWith("$")
      ? formatUsd(new ExactNumber(level.slice(1)))
      : formatExactPercent(new ExactNumber(level));
    return `at ${threshold} on ${formatDay(on)}`;
  });
  return `It would have warned ${conjunction.format(parts)}.`;
}

/** Reads the preview of a budget, again when it has changed and a pause has passed. `shown` may still be the previous preview. */
function usePreview(workspace: string, request: Request | undefined) {
  // Compares requests by their bodies, so that an equal request is not sent again.
  const body = request && JSON.stringify(request, writeExactNumber);
  const [result, setResult] = useState<{ body: string; preview?: BudgetPreview }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `request` is a new object at each render; `body` has its content
  useEffect(() => {
    if (body === undefined) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const path = `/api/v1/workspaces/${workspace}/budgets/preview`;
        const preview = await callApi<typeof budgetPreview, typeof createBudgetRequest>(
          "POST",
          path,
          request,
          abort.signal,
        );
        setResult({ body, preview });
      } catch {
        // Ignores errors: submitting the form reports them.
        if (!abort.signal.aborted) setResult({ body });
      }
    }, waitMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [workspace, body]);
  return { shown: result?.preview, isCurrent: result?.body === body };
}
