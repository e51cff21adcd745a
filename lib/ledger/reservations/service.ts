import { Batcher } from "@/lib/batcher";
import type { Reservation } from "@/lib/contract/ledger/reservations";
import { notFound, overloaded, ServiceError } from "@/lib/errors";
import type { Counted } from "@/lib/keys/decide";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { withIdempotencyHeader } from "@/lib/ledger/ingest/idempotency";
import { secondGroup } from "@/lib/ledger/ingest/service";
import { callReservation, toReservation } from "./reservation-queries";
import { type ReserveCall, type Reserved, reserveGroup } from "./reserve-group";

const batcher = new Batcher<ReserveCall, Counted<Reserved>>({
  write: reserveGroup,
  weigh: () => 1,
  maxGroupWeight: 200,
  maxInFlight: 2,
  secondGroup,
  maxQueuedWeight: 10_000,
  overflow: () => overloaded(),
});

/**
 * Reserves the highest cost of a planned model call against the limit of its key and the blocking budgets that count it. Resolves with
 * the refusal, or once the reservation is committed.
 * @param call.idempotencyHeader the `Idempotency-Key` header, another place for the body's `idempotency_key`
 * @throws ServiceError unavailable
 */
export function reserve({
  idempotencyHeader,
  body,
  ...call
}: ReserveCall & { idempotencyHeader: string | null }): Promise<Counted<Reserved>> {
  return batcher.add({
    ...call,
    body: body instanceof ServiceError ? body : withIdempotencyHeader(body, idempotencyHeader),
  });
}

/** A reservation of the calling key. @throws ServiceError not_found, unavailable */
export async function readReservation({ key }: KeyPrincipal, id: string): Promise<Reservation> {
  return found(await callReservation(key.id, id, false));
}

/** Releases a reservation of the calling key. Does nothing if it is no longer held. @throws ServiceError not_found, unavailable */
export async function releaseReservation({ key }: KeyPrincipal, id: string): Promise<Reservation> {
  return found(await callReservation(key.id, id, true));
}

function found(row: Awaited<ReturnType<typeof callReservation>>): Reservation {
  if (!row) throw notFound();
  return toReservation(row);
}
