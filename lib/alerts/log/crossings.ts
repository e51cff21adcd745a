import { requireMembership } from "@/lib/access/workspaces/membership";
import { readFigures } from "@/lib/alerts/alert";
import { wordsOf } from "@/lib/alerts/words";
import { toInstant } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { type CrossingRow, selectCrossings } from "./alert-log-queries";

/** A threshold of a budget that was reached in one of its periods. */
export type Crossing = {
  budget_id: string;
  scope_type: string;
  /** A project's slug, a key's id, or a name; null for all spend. */
  scope_value: string | null;
  /** The first day of the period. */
  period_from: string;
  /** `80` for a share in percent, `$500` for an amount in USD. */
  level: string;
  at: string;
  /** Whether spend had reached it before the budget was created or changed. */
  was_above: boolean;
  /** In words: "80% of the budget Checkout is spent". */
  title: string;
};

/** The most crossings that are shown: those of a hundred budgets with three thresholds, and some more. */
const atMost = 500;

/**
 * Lists the thresholds of budgets that were reached, for members, the newest first.
 * @param since `YYYY-MM-DD`: lists thresholds reached since this day, or in periods that began since
 * @throws ServiceError not_found
 */
export function listCrossings(claims: UserClaims, slug: string, since: string): Promise<Crossing[]> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    return (await selectCrossings(client, id, since, atMost)).map(toCrossing);
  });
}

function toCrossing({
  budget_id,
  period,
  level,
  was_above,
  details,
  fired_at,
  project_slug,
}: CrossingRow): Crossing {
  const { scope_type, scope_value } = readFigures({ rule: "budget_threshold", details });
  const at = toInstant(fired_at.getTime());
  const { title } = wordsOf({
    id: "",
    rule: "budget_threshold",
    state: "warning",
    level,
    period,
    subject_type: "budget",
    subject_id: budget_id,
    details,
    fired_at: at,
    project_slug,
  });
  return {
    budget_id,
    scope_type,
    scope_value: project_slug ?? scope_value,
    period_from: period,
    level,
    at,
    was_above,
    title,
  };
}
