import { requireMembership } from "@/lib/access/workspaces/membership";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import { asUserReading, sqlState, type UserClaims } from "@/lib/db/transaction";
import { validationFailed } from "@/lib/errors";
import { loadFullBudgets } from "@/lib/spend/budgets/load-budgets";
import { moverDimensions, selectBounds, selectWeek, type WeekRow } from "./weekly-queries";

/** Something whose spend changed; amounts are exact decimal text, USD. */
type Mover = { name: string; amount: string; before: string };

/** The spend of a week in a time zone, compared with the week before. Amounts are exact decimal text, USD. */
export type Week = {
  workspace: { slug: string; name: string; time_zone: string };
  /** Its Monday, `YYYY-MM-DD`. */
  from: string;
  time_zone: string;
  amount: string;
  before: string;
  messages: number;
  /** By dimension, what changed most, sorted by the change. */
  movers: Record<(typeof moverDimensions)[number], Mover[]>;
  /** The number of lines without a price, and the models that have most of them. */
  unpriced: { count: number; models: string[] };
  /** Budgets that are used to 80%, or that will be used up at their present pace. */
  budgets: BudgetAtRisk[];
};

/** A budget in its present period. Amounts are exact decimal text, USD; `used` is a fraction of the amount. */
type BudgetAtRisk = {
  id: string;
  name: string;
  spent: string;
  amount: string;
  used: string;
  /** The day on which it will be used up at its present pace; null if it lasts, or is used up already. */
  runs_out_on: string | null;
};

/** The most movers of each kind, and the most models without a price. */
const shown = 3;

/** The longest that reading a report may take, for large workspaces. */
const deadlineMs = 60_000;

/**
 * Reads the spend of a week, for a member.
 * @param asked the time zone; undefined for the workspace's
 * @param week the Monday of the week; null for the last complete week
 * @throws ServiceError not_found, mfa_required, validation_failed for an unknown time zone
 */
export function readWeek(
  claims: UserClaims,
  slug: string,
  asked: string | undefined,
  week: string | null,
): Promise<Week> {
  return asUserReading(
    claims,
    async (client) => {
      const { id, name, time_zone: timeZone } = await requireMembership(client, claims, slug);
      const zone = asked ?? timeZone;
      const bounds = await selectBounds(client, zone, week).catch(explainZone);
      const [before, from, until] = [bounds.before_at, bounds.from_at, bounds.until_at].map((at) =>
        at.getTime(),
      );
      if (before === undefined || from === undefined || until === undefined)
        throw new Error("The week's bounds are missing.");
      const rows = await selectWeek(
        client,
        { id, timeZone },
        { week: { from, until }, before: { from: before, until: from } },
        shown,
      );
      const budgets = await loadFullBudgets(client, id);
      return {
        workspace: { slug, name, time_zone: timeZone },
        from: bounds.week,
        time_zone: zone,
        ...toFigures(rows),
        budgets: budgets
          .filter(({ alert, runs_out_on: day }) => alert || day !== null)
          .map(({ id: budgetId, name: called, spent, amount, percent_used: used, runs_out_on }) => ({
            id: budgetId,
            name: called,
            spent: textOf(spent),
            amount: textOf(amount),
            used: textOf(used),
            runs_out_on,
          })),
      };
    },
    deadlineMs,
  );
}

const textOf = (value: number | ExactNumber) => (typeof value === "number" ? String(value) : value.text);

function toFigures(rows: WeekRow[]): Pick<Week, "amount" | "before" | "messages" | "movers" | "unpriced"> {
  const total = rows.find(({ kind }) => kind === "total");
  if (!total) throw new Error("The week's total is missing.");
  const movers = moverDimensions.map((dimension) => [
    dimension,
    rows
      .filter(({ kind }) => kind === dimension)
      .map(({ name, amount, before_amount: before }) => ({ name: name ?? "", amount, before })),
  ]);
  return {
    amount: total.amount,
    before: total.before_amount,
    messages: Number(total.messages),
    movers: Object.fromEntries(movers),
    unpriced: {
      count: Number(total.unpriced),
      models: rows.filter(({ kind }) => kind === "unpriced").map(({ name }) => name ?? ""),
    },
  };
}

/** @throws ServiceError validation_failed for a time zone that Postgres does not know, or the error itself */
function explainZone(error: unknown): never {
  if (sqlState(error) !== "22023") throw error;
  const message = "must be the name of a time zone, like Europe/Berlin or UTC";
  throw validationFailed([{ path: "time_zone", message }]);
}
