import { reservation, reservationParams } from "@/lib/contract/ledger/reservations";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { readReservation, releaseReservation } from "@/lib/ledger/reservations/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Get a reservation",
    description: "A reservation that the calling key made within the last day.",
    auth: "key",
    permission: "log_usage",
    params: reservationParams,
    response: reservation,
    errors: ["not_found"],
    run: ({ principal, params }) => readReservation(principal, params.id),
  }),
  DELETE: endpoint({
    summary: "Release a reservation",
    description:
      "Releases what the reservation holds. One that is settled, released or past its end stays as it is, and is answered so.",
    auth: "key",
    permission: "log_usage",
    params: reservationParams,
    response: reservation,
    errors: ["not_found"],
    run: ({ principal, params }) => releaseReservation(principal, params.id),
  }),
});
