import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import { toTagList } from "@/lib/contract/ledger/attribution";
import { maxTags } from "@/lib/contract/ledger/limits";
import type {
  BulkAction,
  BulkActionRequest,
  BulkChange,
  BulkEffects,
} from "@/lib/contract/spend/bulk-actions";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { asServiceWithin, asUser, asUserPreviewing, type UserClaims } from "@/lib/db/transaction";
import { type Issue, notFound, ServiceError, validationFailed } from "@/lib/errors";
import { requireMonths } from "@/lib/ledger/ingest/months";
import { hashOf, requireWithinBudgets, retryOnConflict } from "./attempts";
import {
  insertVoids,
  lockIdempotencyKey,
  recordBulkAction,
  type StoredBulkAction,
  type StoredBulkCost,
  type StoredChange,
  type StoredEffects,
  selectAdded,
  selectBulkAction,
  selectBulkCosts,
  selectEffects,
  undoBulkAction,
} from "./bulk-queries";
import { lockBlockingBudgets, selectProjectId } from "./correction-queries";
import { mayVoid } from "./right";

/** The most postings that one action changes: each line of a batch and each month of a yearly charge is one. */
const maxPostings = 10_000;

/** How long an action can be undone; `private.kept_for_undo` has the same time. */
const undoableMs = 10 * 60_000;

/** The messages that an action changes. `skipped`: how many others match the request but are left unchanged. */
export type Chosen = { ids: string[]; skipped: number };

type Choose = (client: PoolClient, workspace: Membership, now: number) => Promise<Chosen>;

/**
 * Voids many messages, or corrects their attribution or amounts, all of them or none: in one transaction, with one
 * entry in the audit log and one undo. A preview runs the same transaction and rolls it back, so its answer is exact.
 * @param choose finds the messages in the caller's transaction
 * @throws ServiceError not_found for users who are not members; permission_denied; validation_failed for messages that do not exist or do
 *   not allow the change; conflict for voids and voided messages, and if nothing would change; idempotency_conflict; budget_exceeded
 */
export async function actOnMany(
  claims: UserClaims,
  slug: string,
  request: BulkActionRequest,
  choose: Choose,
): Promise<{ result: BulkAction; replayed: boolean }> {
  const { idempotency_key: key, dry_run: isDry, ...meaning } = request;
  const hash = hashOf(meaning);
  const asActor = isDry ? asUserPreviewing : asUser;
  return retryOnConflict(() =>
    asActor(claims, async (client, now) => {
      const workspace = await requireMembership(client, claims, slug, "member");
      if (key !== undefined && !isDry) {
        await lockIdempotencyKey(client, workspace.id, key);
        const earlier = await asServiceWithin(client, () => selectBulkAction(client, workspace.id, { key }));
        if (earlier) return { result: replay(earlier, key, hash), replayed: true };
      }
      requireMonths([toInstant(now)]);
      const chosen = await choose(client, workspace, now);
      return { result: await act(client, workspace, claims, request, hash, chosen), replayed: false };
    }),
  );
}

async function act(
  client: PoolClient,
  workspace: Membership,
  claims: UserClaims,
  request: BulkActionRequest,
  hash: string,
  { ids, skipped }: Chosen,
): Promise<BulkAction> {
  const { action: kind, set, reason = "Preview", dry_run: isDry, idempotency_key: key } = request;
  const costs = new Map(
    (await selectBulkCosts(client, workspace.id, ids, claims.sub)).map((cost) => [cost.id, cost]),
  );
  const change = set && (await toStoredChange(client, workspace.id, set));
  demandChangeable(ids, costs, workspace, change);
  const changed = ids.filter((id) => {
    const cost = costs.get(id);
    return cost !== undefined && (change === undefined || !isAsItShouldBe(cost, change));
  });
  if (changed.length === 0)
    throw new ServiceError("conflict", "Nothing would change: these messages are already as they should be.");
  await asServiceWithin(client, () => lockBlockingBudgets(client, workspace.id));
  await insertVoids(client, workspace.id, changed, reason);
  const id = newId();
  await asServiceWithin(client, () =>
    recordBulkAction(client, workspace.id, changed, {
      id,
      kind,
      unchanged_count: skipped + ids.length - changed.length,
      idempotency_key: key,
      request_hash: hash,
      change: change ?? null,
      audited: { reason, ...auditedChange(set) },
    }),
  );
  const added = await selectAdded(client, workspace.id, id);
  await requireWithinBudgets(client, workspace.id, added);
  const stored = await asServiceWithin(client, () => selectBulkAction(client, workspace.id, { id }));
  if (!stored) throw new Error("The action is missing.");
  const answer = toBulkAction(stored);
  if (!isDry) return answer;
  const effects = await readEffects(client, workspace.id, added);
  return { ...answer, id: null, undo_until: null, messages: changed, effects };
}

/**
 * Undoes an action of the last ten minutes: voids its corrections, and records the messages that it voided again under new ids. For
 * admins, and for the member whose action it was.
 * @throws ServiceError not_found if it is too late, the action is another member's or was undone already; conflict if one of its messages
 *   was changed since; budget_exceeded if the undo takes a blocking budget past its limit
 */
export async function undoMany(claims: UserClaims, slug: string, id: string): Promise<BulkAction> {
  return retryOnConflict(() =>
    asUser(claims, async (client, now) => {
      const workspace = await requireMembership(client, claims, slug, "member");
      requireMonths([toInstant(now)]);
      const { outcome, added } = await asServiceWithin(client, () =>
        undoBulkAction(client, workspace.id, id),
      );
      if (outcome === "unknown") throw notFound();
      if (outcome === "changed")
        throw new ServiceError(
          "conflict",
          "One of these messages was changed since, so the action cannot be undone as a whole.",
        );
      await requireWithinBudgets(client, workspace.id, added);
      const stored = await asServiceWithin(client, () => selectBulkAction(client, workspace.id, { id }));
      if (!stored) throw new Error("The action is missing.");
      return toBulkAction(stored);
    }),
  );
}

/** @throws ServiceError validation_failed if the project does not exist */
async function toStoredChange(
  client: PoolClient,
  workspaceId: string,
  set: BulkChange,
): Promise<StoredChange> {
  const { project, feature, add_tags: added, remove_tags: removed = [], multiply_by: factor } = set;
  const projectId = project === undefined ? undefined : await selectProjectId(client, workspaceId, project);
  if (project !== undefined && projectId === undefined) {
    throw validationFailed([
      { path: "set.project", message: `there is no project ${project} in this workspace` },
    ]);
  }
  return {
    ...(projectId !== undefined && { project_id: projectId }),
    ...(feature !== undefined && { feature }),
    ...(factor !== undefined && { factor }),
    tags: toTagList(added) ?? [],
    untagged: removed,
  };
}

/** The changes as the audit log shows them. */
function auditedChange(set: BulkChange | undefined) {
  if (!set) return {};
  const { add_tags: added, multiply_by: factor, ...named } = set;
  return {
    ...named,
    ...(added && { add_tags: toTagList(added) }),
    ...(factor !== undefined && { multiply_by: factor }),
  };
}

const nameOfTag = (tag: string) => tag.slice(0, tag.indexOf(":"));

/** The tags of a message after a change. */
function tagsAfter({ tags }: StoredBulkCost, { tags: added, untagged }: StoredChange): string[] {
  const gone = new Set([...untagged, ...added.map(nameOfTag)]);
  return [...(tags ?? []).filter((tag) => !gone.has(nameOfTag(tag))), ...added].sort();
}

function isAsItShouldBe(cost: StoredBulkCost, change: StoredChange): boolean {
  const { project_id: project, feature, factor } = change;
  return (
    (project === undefined || cost.project_ids.every((id) => id === project)) &&
    (feature === undefined || cost.features.every((name) => name === (feature ?? ""))) &&
    (factor === undefined || Number(factor) === 1) &&
    tagsAfter(cost, change).join("\n") === (cost.tags ?? []).toSorted().join("\n")
  );
}

/**
 * Refuses the whole action if one of its messages cannot be changed, or if the messages have too many postings.
 * @throws ServiceError validation_failed, permission_denied, conflict
 */
function demandChangeable(
  ids: string[],
  costs: ReadonlyMap<string, StoredBulkCost>,
  { role }: Membership,
  change: StoredChange | undefined,
): void {
  const issuesOf = (find: (cost: StoredBulkCost | undefined) => string | undefined): Issue[] =>
    ids.flatMap((id, index) => {
      const message = find(costs.get(id));
      return message === undefined ? [] : [{ path: `messages.${index}`, message: `${id} ${message}` }];
    });
  const missing = issuesOf((cost) => (cost ? undefined : "is no message of this workspace"));
  if (missing.length > 0) throw validationFailed(missing);
  const known = [...costs.values()];
  const foreign = known.filter(({ is_own: isOwn }) => !mayVoid(role, isOwn));
  if (foreign.length > 0) {
    throw new ServiceError(
      "permission_denied",
      `Members void and correct what they recorded themselves, by hand, from a file or with an assistant. ${foreign.length} of these ${known.length} messages are others'. Ask an admin.`,
      { role, messages: foreign.slice(0, 100).map(({ id }) => id) },
    );
  }
  const gone = known.filter((cost) => cost.is_void || cost.is_voided || cost.missing > 0);
  if (gone.length > 0) {
    throw new ServiceError(
      "conflict",
      `${gone.length} of these ${known.length} messages cannot be changed: they are voided or voids, or the operator has removed entries of them.`,
      { messages: gone.slice(0, 100).map(({ id }) => id) },
    );
  }
  const adjustments = known.filter(({ type }) => type === "bill_adjustment");
  if (adjustments.length > 0) {
    throw new ServiceError(
      "conflict",
      `${adjustments.length} of these ${known.length} messages are adjustments to bills, which are undone on the page Reconciliation. Leave them out.`,
      { messages: adjustments.slice(0, 100).map(({ id }) => id) },
    );
  }
  if (change) {
    const unfit = issuesOf((cost) => cost && whyUnfit(cost, change));
    if (unfit.length > 0) throw validationFailed(unfit);
  }
  const postings = known.reduce((count, cost) => count + cost.postings, 0);
  if (postings > maxPostings) {
    throw validationFailed([
      {
        path: "messages",
        message: `have ${postings} entries and lines, and one action changes at most ${maxPostings}; choose fewer`,
      },
    ]);
  }
}

/** Why a message does not allow a change; undefined if it does. */
function whyUnfit(cost: StoredBulkCost, change: StoredChange): string | undefined {
  if (cost.type === "allocation" && (change.project_id !== undefined || change.factor !== undefined))
    return "is an allocation, which is not moved or multiplied; void it, and record another";
  if (change.factor !== undefined && !cost.has_amount)
    return "has no amount of its own to multiply: it has no price, or a subscription covers it";
  if (tagsAfter(cost, change).length > maxTags) return `would have more than ${maxTags} tags`;
  return undefined;
}

/** The first answer to a request that was sent again. @throws ServiceError for any other request */
function replay(earlier: StoredBulkAction, key: string, hash: string): BulkAction {
  if (earlier.request_hash === hash) return toBulkAction(earlier);
  throw new ServiceError(
    "idempotency_conflict",
    `The idempotency key ${JSON.stringify(key)} was used for a different request. Use a new key for a new request.`,
  );
}

const exact = (text: string) => new ExactNumber(text);

function toBulkAction(stored: StoredBulkAction): BulkAction {
  const {
    id,
    kind: action,
    message_count,
    unchanged_count,
    before_usd,
    after_usd,
    undone_at: undoneAt,
  } = stored;
  return {
    id,
    action,
    message_count,
    unchanged_count,
    before_usd: exact(before_usd),
    after_usd: exact(after_usd),
    messages: null,
    effects: null,
    undo_until: undoneAt === null ? toInstant(Date.parse(stored.created_at) + undoableMs) : null,
    undone_at: undoneAt === null ? null : toInstant(Date.parse(undoneAt)),
  };
}

/** What messages that this transaction added, voids among them, do to sums, budgets and alerts. */
export async function readEffects(
  client: PoolClient,
  workspaceId: string,
  added: string[],
): Promise<BulkEffects> {
  return toEffects(await asServiceWithin(client, () => selectEffects(client, workspaceId, added)));
}

function toEffects({ projects, budgets, alerts }: StoredEffects): BulkEffects {
  const amounts = ({ before_usd, after_usd }: { before_usd: string; after_usd: string }) => ({
    before_usd: exact(before_usd),
    after_usd: exact(after_usd),
  });
  return {
    projects: projects.map(({ days, ...project }) => ({
      ...project,
      days: days.map((one) => ({ day: one.day, ...amounts(one) })),
    })),
    budgets: budgets.map((budget) => ({
      ...budget,
      limit_usd: exact(budget.limit_usd),
      ...amounts(budget),
    })),
    alerts: alerts.map((alert) => ({ ...alert, threshold_usd: exact(alert.threshold_usd) })),
  };
}
