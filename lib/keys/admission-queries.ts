import type { ClientBase } from "pg";
import { json } from "@/lib/db/columns";
import { selectOne } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";
import { parseDecimal, zero } from "@/lib/decimal";
import type { AccessToken, ApiKey, KeyKind, KeyLookup, KeyUsage, StoredSource } from "./api-key";
import {
  type BlockingBudget,
  type BlockingBudgetRow,
  type BudgetPeriodRow,
  parseBudgets,
} from "./blocking-budgets";
import { type Held, type HeldRow, parseHeld } from "./holds";

/** The result of `private.load_admission`. Times are milliseconds since 1970, amounts exact text. */
export type AdmissionRow = {
  now: number;
  keys: {
    lookup: string;
    token: { expires_at: number; resource: string; client_id: string } | null;
    id: string;
    kind: KeyKind;
    workspace_id: string;
    /** Negative if the workspace is deleted. */
    prices_version: number;
    /** The time zone of its workspace. */
    time_zone: string;
    /** The first open day, `YYYY-MM-DD`; null if no month is closed. */
    closed_until: string | null;
    environment: "live" | "test";
    permissions: ApiKey["permissions"];
    project: string | null;
    project_id: string | null;
    conditions: ApiKey["conditions"];
    monthly_limit: string | null;
    on_limit: ApiKey["onLimit"];
    spent: string | null;
    expires_at: number | null;
    revoked: boolean;
    last_used_at: number | null;
    allowed_cidrs: string[];
    rate_limit_rpm: number | null;
    source_settings: StoredSource | null;
    rate_window: { total: number; used: number; latest_at: number; frees_at: number | null } | null;
  }[];
  projects: { workspace_id: string; slug: string; id: string }[];
  idempotency: { workspace_id: string; key: string; request: unknown; response: unknown }[];
  /** Blocking budgets; null if the call records nothing, or no workspace has any. */
  budgets: BlockingBudgetRow[] | null;
  /** The requested idempotency keys whose messages a limit refused before; null if there are none. */
  refused: { workspace_id: string; environment: "live" | "test"; key: string }[] | null;
  /** Null if no reservation matters. */
  held: HeldRow | null;
  /** Null if no emitter reports anything. Its type is `Loaded` in `lib/ledger/ingest/reported-calls.ts`. */
  tellings: unknown;
};

/** A key with its usage, and the state of its rate window in the database. */
export type LoadedKey = {
  key: ApiKey;
  usage: KeyUsage;
  windowTotal: number;
  windowLatestAt: number;
  /** The version of its workspace's prices; see `lib/ledger/pricing/workspace-prices.ts`. */
  pricesVersion: number;
  /** The first open day of its workspace, `YYYY-MM-DD`; null if no month is closed. */
  closedUntil: string | null;
};

/**
 * The state that `private.load_admission` read at `now` (the database's time, ms since 1970). Keys and access tokens are
 * found by the `value` of their lookup.
 */
export type Admission = {
  now: number;
  keys: Map<string, LoadedKey>;
  tokens: Map<string, AccessToken>;
  projects: AdmissionRow["projects"];
  replays: AdmissionRow["idempotency"];
  /** Of all workspaces of the keys. */
  budgets: BlockingBudget[];
  refused: NonNullable<AdmissionRow["refused"]>;
  held: Held;
  reports: unknown;
};

/**
 * What `private.load_admission` loads: keys, and the projects (slugs) and idempotency keys of the messages sent with them, in
 * all workspaces of these keys.
 */
export type Requested = {
  lookups: KeyLookup[];
  projects?: Iterable<string>;
  idempotency?: Iterable<string>;
  /** Ids of reservations that messages settle. */
  reservations?: string[] | undefined;
  /** Idempotency keys of reservations that are made. */
  reserving?: string[] | undefined;
  /**
   * What to load for the calls that emitters report, with the names that the function reads. `tellers`: the values of the look-ups of
   * their keys. `tellings`: `WantedReports` and `WantedSpans`.
   */
  reports?: { tellers: string[]; tellings: object[]; marks: string[] } | undefined;
};

/**
 * A call of `private.load_admission`, which loads keys with their state and locks those that have a limit. Its result
 * has one column, `answer`.
 */
export function loadAdmissionStatement({
  lookups,
  projects = [],
  idempotency = [],
  reports,
  reservations,
  reserving,
}: Requested): Sql {
  const named = (by: KeyLookup["by"]) => [
    ...new Set(lookups.filter((lookup) => lookup.by === by).map((lookup) => lookup.value)),
  ];
  const requested = {
    hashes: named("hash"),
    tokens: named("token"),
    ids: named("id"),
    projects: Array.from(new Set(projects), (slug) => ({ slug })),
    idempotency: Array.from(new Set(idempotency), (key) => ({ key })),
    ...reports,
    ...(reservations && { reservations }),
    ...(reserving && { reserving }),
  };
  return sql`select private.load_admission(${JSON.stringify(requested)}) as answer`;
}

/**
 * Converts a result of `private.load_admission`. A key that is named in several ways is loaded and counted once.
 * @param periods further periods of its budgets
 */
export function parseAdmission(admission: AdmissionRow, periods: readonly BudgetPeriodRow[] = []): Admission {
  const held = parseHeld(admission.held);
  const byId = new Map<string, LoadedKey>();
  const keys = new Map<string, LoadedKey>();
  const tokens = new Map<string, AccessToken>();
  for (const row of admission.keys) {
    const loaded = byId.get(row.id) ?? parseKey(row);
    byId.set(row.id, loaded);
    keys.set(row.lookup, loaded);
    if (row.token) {
      const { expires_at: expiresAt, resource, client_id: clientId } = row.token;
      tokens.set(row.lookup, { expiresAt, resource, clientId });
    }
  }
  return {
    now: admission.now,
    keys,
    tokens,
    projects: admission.projects,
    replays: admission.idempotency,
    budgets: parseBudgets(admission.budgets ?? [], periods, held.budgets),
    refused: admission.refused ?? [],
    held,
    reports: admission.tellings,
  };
}

/** Loads keys with their state. In a transaction, keys that have a limit stay locked until it ends. */
export async function loadAdmission(client: ClientBase, requested: Requested): Promise<Admission> {
  const { answer } = await selectOne(
    client,
    { answer: json<AdmissionRow>() },
    loadAdmissionStatement(requested),
  );
  return parseAdmission(answer);
}

function parseKey(row: AdmissionRow["keys"][number]): LoadedKey {
  return {
    key: {
      id: row.id,
      kind: row.kind,
      workspaceId: row.workspace_id,
      timeZone: row.time_zone,
      environment: row.environment,
      permissions: row.permissions,
      project:
        row.project !== null && row.project_id !== null ? { slug: row.project, id: row.project_id } : null,
      conditions: row.conditions,
      monthlyLimit: row.monthly_limit === null ? null : parseDecimal(row.monthly_limit),
      onLimit: row.on_limit,
      expiresAt: row.expires_at,
      revoked: row.revoked,
      // The sign marks a deleted workspace, so that the look-up does not read another column.
      workspaceDeleted: row.prices_version < 0,
      lastUsedAt: row.last_used_at,
      allowedCidrs: row.allowed_cidrs,
      rateLimitRpm: row.rate_limit_rpm,
      source: row.source_settings,
    },
    usage: {
      spent: row.spent === null ? zero : parseDecimal(row.spent),
      window: { used: row.rate_window?.used ?? 0, freesAt: row.rate_window?.frees_at ?? null },
    },
    windowTotal: row.rate_window?.total ?? 0,
    windowLatestAt: row.rate_window?.latest_at ?? 0,
    pricesVersion: row.prices_version,
    closedUntil: row.closed_until,
  };
}

/**
 * A call of `private.record_admissions`, which counts `admitted` calls of each key against its rate window at `now`. It
 * must run in the transaction that loaded the keys.
 */
export function recordAdmissionsStatement(
  admissions: { loaded: LoadedKey; admitted: number }[],
  now: number,
): Sql {
  const counted = admissions.map(({ loaded, admitted }) => ({
    api_key_id: loaded.key.id,
    admitted,
    total: loaded.windowTotal + admitted,
    // The window is read in order of time, so that a row must not come before the last one, even if the clock was set back.
    at: Math.max(now, loaded.windowLatestAt),
  }));
  return sql`select private.record_admissions(${JSON.stringify(counted)})`;
}
