import type { PoolClient } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type {
  BudgetRequest,
  budgetRequestList,
  keyBudgetRequestList,
} from "@/lib/contract/spend/budget-requests";
import { asServiceAlone, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { selectKeyRequests, selectLimited, selectRequests } from "./request-queries";
import { toKeyRequest, toRequest } from "./to-request";

const askingRoles = ["owner", "admin", "member"];

/** Lists the requests to raise a workspace's budgets and limits of keys, for its members. @throws ServiceError not_found */
export function listRequests(claims: UserClaims, slug: string): Promise<z.output<typeof budgetRequestList>> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    const rows = await selectRequests(client, id);
    return {
      requests: rows.map((row) => toRequest(row, claims.sub, role)),
      can_ask: askingRoles.includes(role),
    };
  });
}

/** Lists the requests that a key made. @throws ServiceError unavailable */
export async function listKeyRequests({ key }: KeyPrincipal): Promise<z.output<typeof keyBudgetRequestList>> {
  const rows = await asServiceAlone((client) => selectKeyRequests(client, key.id));
  return { requests: rows.map(toKeyRequest) };
}

/**
 * The page on which more of a budget or of a key's monthly limit is asked for; null for an unknown one. The limit of a connected
 * program is set by the person who connected it, among the connections.
 */
export async function findAskingPage(
  claims: UserClaims,
  kind: "budget" | "key",
  id: string,
): Promise<string | null> {
  const found = await asUserReading(claims, (client) => selectLimited(client, kind, id));
  if (!found) return null;
  return found.is_connection ? `/${found.slug}/connections` : `/${found.slug}/budgets/requests?${kind}=${id}`;
}

/** Loads a request as a member sees it. @throws ServiceError not_found */
export async function loadRequest(
  client: PoolClient,
  workspaceId: string,
  id: string,
  userId: string,
  role: string,
): Promise<BudgetRequest> {
  const [row] = await selectRequests(client, workspaceId, id);
  if (!row) throw notFound();
  return toRequest(row, userId, role);
}
