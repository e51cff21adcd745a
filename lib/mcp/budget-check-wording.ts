import type { BudgetCheck, CheckBudget } from "@/lib/contract/spend/budget-check";
import { usd } from "./wording";

/** The answer of `check_budget` as text: whether the usage is admitted, then what is left, one limit per line. */
export function describeBudgetCheck(asked: CheckBudget, check: BudgetCheck): string {
  const { refusal, monthly_limit: own, budgets, estimated_usd: estimated } = check;
  const hasTokens = asked.input_tokens !== undefined || asked.output_tokens !== undefined;
  const about = `in the project ${asked.project}`;
  const verdict =
    estimated !== null && check.admitted
      ? `Admitted: ${usd(estimated)} ${about} fits into every limit now. Nothing is reserved.`
      : check.admitted && hasTokens
        ? "Nothing is used up, but no price is known for this usage: give estimated_cost."
        : `Nothing that limits usage ${about} is used up.`;
  const lines = [
    refusal
      ? `Not admitted ${about}: ${refusal.error_description}${refusal.remaining_usd === undefined ? "" : ` ${usd(refusal.remaining_usd)} of it is left.`}`
      : verdict,
    ...(refusal?.how_to_ask ? [adviceOf(refusal.how_to_ask)] : []),
    ...(!refusal && check.is_partial
      ? ["Budgets that this key may not read can still refuse; of these, only what is used up is known."]
      : []),
    ...(own
      ? [
          `- this key: ${usd(own.remaining_usd)} of ${usd(own.limit_usd)} left, until ${own.resets_at}${own.on_limit === "record" ? ", records what is past it" : ""}`,
        ]
      : []),
    ...budgets.map(
      ({ name, remaining_usd: left, limit_usd: limit, blocks, is_used_up: isUsedUp, resets_at: until }) => {
        const state =
          left !== null && limit !== null
            ? `${usd(left)} of ${usd(limit)} left`
            : `${isUsedUp ? "used up" : "not used up"} (this key may not read its figures)`;
        return `- ${name}: ${state}, until ${until}, ${blocks ? "blocks" : "warns"}`;
      },
    ),
  ];
  return lines.join("\n");
}

function adviceOf({
  page,
  tool,
  budget_id: budgetId,
  key_id: keyId,
}: NonNullable<BudgetCheck["refusal"] & object>["how_to_ask"] & object) {
  const limit = budgetId ? `the budget ${budgetId}` : keyId && `the key ${keyId}`;
  return tool && limit
    ? `Tell the user. If they want more, ask with ${tool}, ${limit} and a reason, or at ${page}.`
    : `Tell the user. More can be asked for at ${page}.`;
}
