import { compare, type Decimal, toText, zero } from "@/lib/decimal";
import type { ServiceError } from "@/lib/errors";
import type { Admission } from "@/lib/keys/admission-queries";
import type { ApiKey } from "@/lib/keys/api-key";
import { isProviderKey, type Submission } from "./call";
import type { Work } from "./group-work";

/** A message that a limit refused, as `private.record_refusals` reads it. `key`: null without an idempotency key. */
type RefusedMessage = {
  workspace_id: string;
  environment: "live" | "test";
  api_key_id: string;
  key: string | null;
  at: string;
  project: string;
  provider: string | undefined;
  model: string | undefined;
  budget_id: string | undefined;
  period_from: string;
  amount_usd: string;
};

type NamedKey = { workspace_id: string; environment: "live" | "test"; key: string };

/**
 * Collects the messages of a group that limits and budgets refuse, because their calls have usually been made already, and the messages
 * that were refused before and are recorded now. No I/O.
 */
export class RefusedMessages {
  readonly #before: Set<string>;
  /** By idempotency key, so that a retry within the group counts once. */
  readonly #named = new Map<string, RefusedMessage>();
  readonly #unnamed: RefusedMessage[] = [];
  readonly #taken = new Map<string, NamedKey>();

  constructor(private readonly admission: Pick<Admission, "now" | "refused">) {
    this.#before = new Set(admission.refused.map(placeOf));
  }

  /**
   * Adds a refused message with the amount that it would have cost. Leaves out allocations, which only move cost.
   * @param cost USD
   */
  refuse(key: ApiKey, request: Submission, { own }: Work, cost: Decimal, refusal: ServiceError): void {
    if (request.message.type === "allocation" || compare(cost, zero) < 0) return;
    const [first, ...others] = own.postings;
    const { budget, period } = refusal.fields as { budget?: { id: string }; period?: { from: string } };
    const name = nameOf(request);
    const message: RefusedMessage = {
      workspace_id: key.workspaceId,
      environment: key.environment,
      api_key_id: key.id,
      key: name ?? null,
      at: first.occurred_at,
      project: request.project,
      provider: first.provider,
      model: others.every(({ model }) => model === first.model) ? first.model : undefined,
      budget_id: budget?.id,
      period_from: period?.from ?? `${new Date(this.admission.now).toISOString().slice(0, 7)}-01`,
      amount_usd: toText(cost),
    };
    if (name === undefined) this.#unnamed.push(message);
    else this.#named.set(placeOf({ ...message, key: name }), message);
  }

  /** Removes a recorded message from the refused ones, if it was refused before. */
  record({ workspaceId, environment }: ApiKey, { idempotency_key: sent, callKeys }: Submission): void {
    if (this.#before.size + this.#named.size === 0) return;
    for (const key of sent === undefined ? (callKeys?.own ?? []) : [sent]) {
      const named = { workspace_id: workspaceId, environment, key };
      const text = placeOf(named);
      this.#named.delete(text);
      if (this.#before.has(text)) this.#taken.set(text, named);
    }
  }

  /** What the group writes: newly refused messages, and those that are no longer refused. */
  written(): { refused: RefusedMessage[]; taken: NamedKey[] } {
    return { refused: [...this.#named.values(), ...this.#unnamed], taken: [...this.#taken.values()] };
  }
}

/** The key by which a retry is recognised; for telemetry the provider's id if there is one, which all records of a call share. */
function nameOf({ idempotency_key: sent, callKeys }: Submission): string | undefined {
  return sent ?? callKeys?.own.find(isProviderKey) ?? callKeys?.own[0];
}

const placeOf = ({ workspace_id, environment, key }: NamedKey) => `${workspace_id} ${environment} ${key}`;
