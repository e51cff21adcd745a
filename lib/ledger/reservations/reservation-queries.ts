import type { Reservation } from "@/lib/contract/ledger/reservations";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { type Sql, sql } from "@/lib/db/sql";
import { callAsService } from "@/lib/db/transaction";
import type { ReservationRow } from "@/lib/keys/holds";

/** A row of `private.reservations`, as `private.store_reservations` reads it: USD as exact text, instants ISO 8601. */
export type NewReservation = {
  workspace_id: string;
  id: string;
  environment: "live" | "test";
  api_key_id: string;
  amount_usd: string;
  project: string;
  provider: string;
  model: string | undefined;
  feature: string | undefined;
  end_user: string | undefined;
  tags: readonly string[] | undefined;
  created_at: string;
  expires_at: string;
  state: "held";
  idempotency_key: string | undefined;
  request: unknown;
};

/** A statement that stores reservations. It fails with 40001 if another process has used an idempotency key first. */
export function storeReservationsStatement(reserved: readonly NewReservation[]): Sql {
  return sql`select private.store_reservations(${JSON.stringify(reserved)})`;
}

/** A reservation of a key; null if the key has none with this id. @param releases whether to release it first, if it is still held */
export function callReservation(
  keyId: string,
  id: string,
  releases: boolean,
): Promise<ReservationRow | null> {
  return callAsService("private.read_reservation", keyId, id, releases);
}

/** A stored reservation as the API answers it. */
export function toReservation(row: ReservationRow): Reservation {
  return {
    id: row.id,
    state: row.state,
    held_usd: new ExactNumber(row.usd),
    created_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
    message_id: row.message_id,
    settled_usd: row.settled_usd === null ? null : new ExactNumber(row.settled_usd),
  };
}
