import type { IngestRequest } from "@/lib/contract/ledger/message";
import type { Reservation, ReservationRequest } from "@/lib/contract/ledger/reservations";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { newId } from "@/lib/db/new-id";
import { inTwoRoundTrips, isContention } from "@/lib/db/transaction";
import { compare, toText, zero } from "@/lib/decimal";
import { ServiceError, type Verdict, validationFailed } from "@/lib/errors";
import {
  type Admission,
  type AdmissionRow,
  type LoadedKey,
  loadAdmissionStatement,
  parseAdmission,
  recordAdmissionsStatement,
} from "@/lib/keys/admission-queries";
import { AdmittedCalls } from "@/lib/keys/admitted-calls";
import type { KeyLookup } from "@/lib/keys/api-key";
import { lowerAsPostgres } from "@/lib/keys/blocking-budgets";
import { type Counted, decideAttempt, decideCall } from "@/lib/keys/decide";
import { identify } from "@/lib/keys/identify";
import { recordKeyUse } from "@/lib/keys/record-key-use";
import { attemptOf } from "@/lib/ledger/ingest/attempt";
import { checkMessage } from "@/lib/ledger/ingest/check";
import { Draft } from "@/lib/ledger/ingest/draft";
import { costOfWork, GroupWork } from "@/lib/ledger/ingest/group-work";
import { idempotencyConflict } from "@/lib/ledger/ingest/idempotency";
import { loadPrices } from "@/lib/ledger/ingest/write-group";
import { followPublished } from "@/lib/ledger/published/follow";
import { type NewReservation, storeReservationsStatement, toReservation } from "./reservation-queries";

/** One call that reserves. `body`: the request or its refusal. */
export type ReserveCall = {
  lookup: KeyLookup;
  address: string | undefined;
  body: Verdict<ReservationRequest>;
};

/** The result of a call. `replayed`: it is the reservation of an earlier call with the same idempotency key. */
export type Reserved = { reservation: Reservation; replayed: boolean };

const maxAttempts = 8;

/** How many reservations a key may hold at a time. */
const maxHeld = 1000;

/**
 * Decides a group of calls and writes their reservations in one transaction, under the same locks as messages, so that two processes
 * cannot hold or spend the same money.
 */
export async function reserveGroup(calls: ReserveCall[]): Promise<Counted<Reserved>[]> {
  await followPublished();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryGroup(calls);
    } catch (error) {
      if (!isContention(error) || attempt === maxAttempts) throw error;
    }
  }
}

async function tryGroup(calls: ReserveCall[]): Promise<Counted<Reserved>[]> {
  const requests = calls.flatMap(({ body }) => (body instanceof ServiceError ? [] : [body]));
  const load = loadAdmissionStatement({
    lookups: calls.map(({ lookup }) => lookup),
    projects: requests.map(({ project }) => project),
    reserving: requests.flatMap(({ idempotency_key: key }) => key ?? []),
  });
  const { admission, verdicts } = await inTwoRoundTrips<
    AdmissionRow,
    { admission: Admission; verdicts: Counted<Reserved>[] }
  >(
    load,
    async (answer, client) => {
      const admission = parseAdmission(answer);
      const group = new ReserveGroup(
        admission,
        new GroupWork(admission, await loadPrices(client, admission)),
      );
      const verdicts = calls.map((call) => group.admit(call));
      const admissions = group.admitted.list();
      const close = [
        ...(admissions.length > 0 ? [recordAdmissionsStatement(admissions, admission.now)] : []),
        ...(group.reserved.length > 0 ? [storeReservationsStatement(group.reserved)] : []),
      ];
      return { close, result: { admission, verdicts } };
    },
    calls.map(({ lookup }) => lookup),
  );
  recordKeyUse(admission.keys.values(), admission.now);
  return verdicts;
}

/** Decides a group of calls that reserve, each against the amounts that the earlier ones hold. No I/O. */
class ReserveGroup {
  readonly reserved: NewReservation[] = [];
  readonly admitted: AdmittedCalls;
  readonly #draft: Draft;
  /** By workspace, environment and idempotency key. */
  readonly #made = new Map<string, { request: unknown; reservation: Reservation }>();

  constructor(
    private readonly admission: Admission,
    private readonly work: GroupWork,
  ) {
    this.admitted = new AdmittedCalls(admission.now);
    this.#draft = Draft.from(admission);
    for (const row of admission.held.made)
      this.#made.set(`${row.workspace_id} ${row.environment} ${row.key}`, {
        request: row.request,
        reservation: toReservation(row),
      });
  }

  admit(call: ReserveCall): Counted<Reserved> {
    const identified = identify(this.admission, call);
    if (identified instanceof ServiceError) return { outcome: identified, rate: null };
    const { loaded } = identified;
    const { refusal, rate } = decideCall(loaded.key, loaded.usage, call.address, this.admission.now);
    if (refusal) return { outcome: refusal, rate };
    if (rate) this.admitted.add(loaded);
    return {
      outcome: call.body instanceof ServiceError ? call.body : this.#reserve(loaded, call.body),
      rate,
    };
  }

  #reserve(
    loaded: LoadedKey,
    { expires_in_seconds: seconds, ...asked }: ReservationRequest,
  ): Verdict<Reserved> {
    const { key } = loaded;
    const { now } = this.admission;
    const { idempotency_key: name, ...meaning } = asked;
    const place = `${key.workspaceId} ${key.environment} ${name}`;
    const request: unknown = JSON.parse(JSON.stringify({ ...meaning, seconds, key: key.id }));
    const made = name === undefined ? undefined : this.#made.get(place);
    const conflict = made && idempotencyConflict(name ?? "", made.request, request);
    const invalid = made && !conflict ? undefined : checkMessage(asked.message, now);
    if (invalid) return invalid;
    const denied = decideAttempt(key, { ...attemptOf(asked), ...(conflict && { conflict }) });
    if (denied) return denied;
    if (made) return { reservation: made.reservation, replayed: true };
    const submission: IngestRequest = meaning;
    const work = this.work.compose(loaded, submission, this.#draft);
    if (work instanceof ServiceError) return work;
    const cost = costOfWork(work);
    if (
      compare(cost, zero) <= 0 ||
      work.own.postings.some(({ cost_status: status }) => status === "unpriced")
    )
      return validationFailed([
        {
          path: "message.estimated_cost",
          message:
            "is required: no price is known for all of this usage. Give the most that the call may cost, in USD",
        },
      ]);
    if (this.#draft.heldBy(key.id).count >= maxHeld)
      return new ServiceError(
        "conflict",
        `This API key holds ${maxHeld} reservations, the most that it may. Settle or delete some, or wait until some end.`,
      );
    // In a fork, because an admitted cost is added to the draft's spend, but a reservation is added to the held amounts.
    const refusal = this.work.decideLimits(loaded, submission, work, cost, {
      draft: this.#draft.fork(),
      dryRun: false,
    });
    if (refusal) return refusal;
    const [{ provider = "", model, feature, end_user, tags }] = work.own.postings;
    const id = newId();
    const hold = {
      id,
      usd: cost,
      budgeted: {
        project: this.#draft.projectId(key.workspaceId, asked.project),
        key: key.id,
        provider: lowerAsPostgres(provider),
        model,
        feature,
        user: end_user,
        tags,
      },
    };
    this.#draft.addHeld(key.id, cost, this.work.periodsOf(key, hold));
    const reservation: Reservation = {
      id,
      state: "held",
      held_usd: new ExactNumber(toText(cost)),
      created_at: toInstant(now),
      expires_at: toInstant(now + seconds * 1000),
      message_id: null,
      settled_usd: null,
    };
    this.reserved.push({
      workspace_id: key.workspaceId,
      id,
      environment: key.environment,
      api_key_id: key.id,
      amount_usd: toText(cost),
      project: asked.project,
      provider,
      model,
      feature,
      end_user,
      tags,
      created_at: reservation.created_at,
      expires_at: reservation.expires_at,
      state: "held",
      idempotency_key: name,
      request,
    });
    if (name !== undefined) this.#made.set(place, { request, reservation });
    return { reservation, replayed: false };
  }
}
