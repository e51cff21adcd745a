import type { z } from "zod";
import { accountQuota, hourMs, throttle } from "@/lib/access/throttle";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { Membership } from "@/lib/contract/access/me";
import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import type { Source, sourceList } from "@/lib/contract/sources/sources";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { monthOf } from "@/lib/contract/values/month";
import { asUserReading, callAsService, type UserClaims } from "@/lib/db/transaction";
import { notFound, ServiceError } from "@/lib/errors";
import type { KeyLookup } from "@/lib/keys/api-key";
import { type KeyRow, selectKeys } from "@/lib/keys/management/key-queries";
import { mayManage, toApiKey, toSourceSettings } from "@/lib/keys/management/to-api-key";
import {
  type ArrivalRow,
  selectAccount,
  selectArrivals,
  selectKept,
  selectRefusals,
  selectTotals,
  selectUnpricedModels,
  type TotalsRow,
} from "./source-queries";

/** A source that has sent records before is silent after this time without any. */
const silentAfterMs = 24 * hourMs;

/** How often one account may send refused records again. */
const maxReplaysAnHour = 120;

type Viewer = { membership: Membership; claims: UserClaims; now: number };

/**
 * Lists the keys of a workspace that are set up as sources or have sent records, for its members, without revoked keys.
 * @throws ServiceError not_found
 */
export function listSources(claims: UserClaims, slug: string): Promise<z.output<typeof sourceList>> {
  return asUserReading(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug);
    const totals = await selectTotals(client, membership.id);
    const rows = await selectKeys(client, membership.id, monthOf(now).from);
    const keys = new Map(rows.map((row) => [row.id, row]));
    return {
      sources: totals.flatMap((total) => {
        const row = keys.get(total.api_key_id);
        return row && row.revoked_at === null ? [toSummary(row, total, { membership, claims, now })] : [];
      }),
      can_create: membership.role !== "viewer",
    };
  });
}

/** A source's settings and the counts of its records, for members. @throws ServiceError not_found */
export function readSource(claims: UserClaims, slug: string, id: string): Promise<Source> {
  return asUserReading(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug);
    const [row] = await selectKeys(client, membership.id, monthOf(now).from, id);
    const [totals] = await selectTotals(client, membership.id, id);
    if (!row || !totals) throw notFound();
    const viewer = { membership, claims, now };
    const arrivals = await selectArrivals(client, membership.id, id);
    const account = await selectAccount(client, membership.id, id);
    const refusals = await selectRefusals(client, membership.id, id);
    const kept = await selectKept(client, membership.id, id);
    const unpriced = await selectUnpricedModels(client, membership.id, id);
    return {
      ...toSummary(row, totals, viewer),
      settings: row.source_settings && toSourceSettings(row.source_settings),
      can_edit: row.revoked_at === null && mayManage(row, viewer),
      arrivals: arrivals.map(toArrival),
      account: account.map(({ hour, by, record_count: count, ...row }) => ({
        ...row,
        hour: toInstant(hour.getTime()),
        by: by === "" ? null : by,
        count: Number(count),
      })),
      refusals: refusals.map(({ refused_count: count, first_at, last_at, ...refusal }) => ({
        ...refusal,
        count: Number(count),
        first_at: toInstant(first_at.getTime()),
        last_at: toInstant(last_at.getTime()),
      })),
      kept: { ...kept, last_at: kept.last_at && toInstant(kept.last_at.getTime()) },
      unpriced: unpriced.map(({ line_count: count, ...model }) => ({ ...model, line_count: Number(count) })),
    };
  });
}

/** The stored records of one request that were refused. `address`: of the program that sent it. */
type KeptExport = { id: string; address: string | null; records: unknown[] };

/**
 * The stored refused records of a source, oldest first, and the lookup of its key, for a user who may change the key.
 * @throws ServiceError not_found, permission_denied, conflict if the key is revoked or expired, rate_limited
 */
export async function takeRefused(
  claims: UserClaims,
  slug: string,
  id: string,
): Promise<{ workspaceId: string; lookup: KeyLookup; exports: KeptExport[] }> {
  const workspaceId = await asUserReading(claims, async (client, now) => {
    const membership = await requireMembership(client, claims, slug, "member");
    const [row] = await selectKeys(client, membership.id, monthOf(now).from, id);
    if (!row) throw notFound();
    if (!mayManage(row, { membership, claims })) {
      throw new ServiceError(
        "permission_denied",
        "Members can send refused records again only for keys that they created. Ask an admin, or the member who created this key.",
        { role: membership.role },
      );
    }
    const { status } = toApiKey(row, { membership, claims, now });
    if (status !== "active")
      throw new ServiceError("conflict", `This API key is ${status}. It can record nothing more.`);
    return membership.id;
  });
  await throttle("replays of refused records", accountQuota(claims.sub, maxReplaysAnHour, hourMs));
  const { hash, exports } = await callAsService<{ hash: string | null; exports: KeptExport[] }>(
    "private.take_refused_exports",
    workspaceId,
    id,
  );
  return {
    workspaceId,
    lookup: hash === null ? { by: "id", value: id } : { by: "hash", value: hash },
    exports,
  };
}

/** Replaces the records of a stored export by those that were refused again, or removes it if there are none. */
export async function settleRefused(
  of: { workspaceId: string; keyId: string; exportId: string },
  refused: unknown[],
): Promise<void> {
  const { workspaceId, keyId, exportId } = of;
  await callAsService("private.settle_refused_export", workspaceId, keyId, exportId, JSON.stringify(refused));
}

function toSummary(row: KeyRow, totals: TotalsRow, viewer: Viewer) {
  const { id, name, status, environment, summary } = toApiKey(row, viewer);
  const { emitters, told, recorded, refused, last_received_at: last } = totals;
  return {
    id,
    name,
    status,
    environment,
    program: row.source_settings?.program ?? null,
    emitters,
    told: Number(told),
    recorded: Number(recorded),
    refused: Number(refused),
    last_received_at: last && toInstant(last.getTime()),
    is_silent: last !== null && viewer.now - last.getTime() > silentAfterMs,
    summary,
  };
}

function toArrival(row: ArrivalRow): Source["arrivals"][number] {
  const { last_message_id: id, last_recorded_at: at } = row;
  return {
    emitter: row.emitter,
    told: Number(row.told_count),
    recorded: Number(row.recorded_count),
    repeated: Number(row.repeated_count),
    refused: Number(row.refused_count),
    first_at: toInstant(row.first_at.getTime()),
    last_at: toInstant(row.last_at.getTime()),
    latest:
      id === null || at === null
        ? null
        : {
            id,
            at: toInstant(at.getTime()),
            provider: row.last_provider,
            model: row.last_model,
            amount_usd: new ExactNumber(row.last_amount_usd ?? "0"),
            cost_status: row.last_cost_status as CostStatus,
          },
  };
}
