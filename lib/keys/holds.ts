import { type Decimal, parseDecimal } from "@/lib/decimal";
import type { Budgeted } from "./blocking-budgets";

/** A reservation as `private.describe_reservation` returns it: USD as exact text, times in milliseconds since 1970. */
export type ReservationRow = {
  id: string;
  workspace_id: string;
  environment: "live" | "test";
  api_key_id: string;
  usd: string;
  project: string;
  provider: string;
  model: string | null;
  feature: string | null;
  user: string | null;
  tags: string[] | null;
  created_at: number;
  expires_at: number;
  state: "held" | "settled" | "released" | "expired";
  message_id: string | null;
  settled_usd: string | null;
};

/** The result of `private.load_held`. */
export type HeldRow = {
  keys: { id: string; usd: string; count: number }[];
  budgets: { id: string; usd: string }[];
  named: (ReservationRow & { is_held: boolean })[];
  made: (ReservationRow & { key: string; request: unknown })[];
};

/** The amounts that reservations hold, USD. `named`: the reservations that messages of a group name. `made`: those made before. */
export type Held = {
  /** By key. */
  keys: Map<string, { usd: Decimal; count: number }>;
  /** By budget: the amount held in its present period. */
  budgets: Map<string, Decimal>;
  named: HeldRow["named"];
  made: HeldRow["made"];
};

/** Converts a result of `private.load_held`. */
export function parseHeld(row: HeldRow | null): Held {
  return {
    keys: new Map(row?.keys.map(({ id, usd, count }) => [id, { usd: parseDecimal(usd), count }])),
    budgets: heldByBudget(row?.budgets ?? []),
    named: row?.named ?? [],
    made: row?.made ?? [],
  };
}

/** The amounts held in the present periods of budgets, USD, by the id of the budget. */
export function heldByBudget(rows: HeldRow["budgets"]): Map<string, Decimal> {
  return new Map(rows.map(({ id, usd }) => [id, parseDecimal(usd)]));
}

/** A held reservation. `usd`: the amount. `budgeted`: what the scopes of budgets match. */
export type Hold = { id: string; usd: Decimal; budgeted: Budgeted };

/** @param projectId of the reservation's project; undefined if that does not exist yet */
export function toHold(row: ReservationRow, projectId: string | undefined): Hold {
  return {
    id: row.id,
    usd: parseDecimal(row.usd),
    budgeted: {
      project: projectId,
      key: row.api_key_id,
      provider: row.provider,
      model: row.model ?? undefined,
      feature: row.feature ?? undefined,
      user: row.user ?? undefined,
      tags: row.tags ?? undefined,
    },
  };
}
