import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Erasure, eraseRequest, erasureList, erasurePreview } from "@/lib/contract/spend/people";
import { toInstant } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { runSteps } from "@/lib/db/job-steps";
import { asService, asServiceWithin, asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { type ErasureRow, eraseSome, findPerson, insertErasure, selectErasures } from "./erasure-queries";

/** Postings changed in one transaction: few enough that other requests wait only briefly for the locks. */
const postingsAStep = 500;

/** How many erasures a list has at most. */
const maxListed = 100;

/**
 * Requests that a person be erased, for admins; `runErasures` carries it out. A random pseudonym replaces the name wherever it is
 * stored; amounts do not change.
 * @throws ServiceError not_found, permission_denied
 */
export function erasePerson(
  claims: UserClaims,
  slug: string,
  { user }: z.output<typeof eraseRequest>,
): Promise<Erasure> {
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    return toErasure(await insertErasure(client, id, user));
  });
}

/** The places that an erasure does not search for the name: free text, and the accounts of members. */
const notSearched = [
  "labels, notes, metadata and sessions of messages",
  "names of projects, features, keys, channels and bills, and accounts at providers",
  "reasons and answers of requests for more of a limit",
  "the account of a member with this address, and their entries in the audit log",
];

/** Says what an erasure would change and leave, for admins. Changes nothing. @throws ServiceError not_found, permission_denied */
export function previewErasure(
  claims: UserClaims,
  slug: string,
  { user }: z.output<typeof eraseRequest>,
): Promise<z.output<typeof erasurePreview>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    const { tags, ...found } = await asServiceWithin(client, () => findPerson(client, id, user));
    return { ...found, stays: { tags, not_searched: notSearched } };
  });
}

/** Lists a workspace's erasures with their progress, for admins. @throws ServiceError not_found, permission_denied */
export function listErasures(claims: UserClaims, slug: string): Promise<z.output<typeof erasureList>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    return { erasures: (await selectErasures(client, id, maxListed)).map(toErasure) };
  });
}

/**
 * Carries out all requested erasures. Several processes may run it at once, and it may be killed at any time: each transaction is a
 * step that leaves messages and sums in agreement.
 * @returns how many postings and answers were changed
 */
export function runErasures(): Promise<number> {
  return runSteps(() => asService((client) => eraseSome(client, postingsAStep), deadlines.job));
}

function toErasure({ changed_count, created_at, finished_at, ...erasure }: ErasureRow): Erasure {
  return {
    ...erasure,
    changed_count: Number(changed_count),
    created_at: toInstant(created_at.getTime()),
    finished_at: finished_at && toInstant(finished_at.getTime()),
  };
}
