import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { apiKey } from "@/lib/contract/access/api-keys";
import type { keyLimits } from "@/lib/contract/spend/limits";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import {
  type BudgetRow,
  type ScopeRow,
  selectBudgetStatus,
  selectScopes,
} from "@/lib/spend/budgets/budget-queries";
import { selectRefusedOfBudgets } from "@/lib/spend/refused-queries";
import { countsNow, toReadable } from "./service";

type CoveringBudget = z.output<typeof keyLimits>["budgets"][number];
type ListedKey = Pick<z.output<typeof apiKey>, "id" | "environment" | "project_id" | "conditions">;

/**
 * The budgets that can count what each of some keys records, by the key's id, for members of the workspace. Corresponds to what
 * `GET /api/v1/limits` shows the keys, with the figures of every budget. No budget counts test keys.
 * @throws ServiceError not_found
 */
export function readCoveringBudgets(
  claims: UserClaims,
  slug: string,
  keys: readonly ListedKey[],
): Promise<Map<string, CoveringBudget[]>> {
  return asUserReading(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug);
    const rows = await selectBudgetStatus(client, { workspaceId, environment: "live" });
    const present = rows.filter(countsNow);
    const scopes = await selectScopes(
      client,
      workspaceId,
      present.flatMap(({ scope_type: type, scope_value: value }) =>
        type === "project" && value ? [value] : [],
      ),
    );
    const refused = new Map(
      (await selectRefusedOfBudgets(client, workspaceId)).map((row) => [row.id, row.usd]),
    );
    return new Map(
      keys.map((key) => [
        key.id,
        present.filter((row) => covers(row, key, scopes)).map((row) => toReadable(row, refused.get(row.id))),
      ]),
    );
  });
}

/** Whether a budget can count what a key records: the key's settings allow costs in the budget's scope. */
function covers(
  { scope_type: type, scope_value: value }: BudgetRow,
  { id, environment, project_id: ownProject, conditions }: ListedKey,
  scopes: readonly ScopeRow[],
): boolean {
  if (environment !== "live") return false;
  if (value === null) return true;
  if (type === "key") return value === id;
  if (type === "feature") return allows(conditions.features, value);
  if (type === "user") return allows(conditions.users, value);
  if (type !== "project") return true;
  if (ownProject !== null) return value === ownProject;
  const slug = scopes.find((scope) => scope.type === "project" && scope.id === value)?.slug ?? "";
  const { project_slugs: only, deny_project_slugs: denied } = conditions;
  return only.length > 0 ? only.includes(slug) : !denied.includes(slug);
}

const allows = (list: readonly string[], name: string) => list.length === 0 || list.includes(name);
