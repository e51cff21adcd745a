import type { ApiErrorCode } from "./contract.generated.js";

/**
 * Codes of errors that the client itself finds.
 * - `unreachable`: no answer came from the service.
 * - `unexpected_answer`: the answer is not the service's, for example a proxy's page.
 * - `queue_full`: the message was dropped because the queue had reached `maxQueue` or `maxQueueBytes`.
 * - `not_sent`: the client was closed, or the time to drain was over. A message that was under way may have been recorded.
 * - `invalid_message`: the message cannot be written as JSON.
 */
export type ClientErrorCode =
  | "unreachable"
  | "unexpected_answer"
  | "queue_full"
  | "not_sent"
  | "invalid_message";

/** The body of an error that the API answers, with the fields of its code (`issues`, `limit_usd`, `spent_usd`, …). */
export type ApiErrorBody = { error: string; error_description: string; [field: string]: unknown };

/** Why a message was not recorded. */
export class OutlayError extends Error {
  override name = "OutlayError";

  /**
   * @param code the API's code, or one of the client's own; later versions of the API may have more
   * @param status the HTTP status; 0 where no answer came
   * @param body the API's error, where it sent one
   */
  constructor(
    readonly code: ApiErrorCode | ClientErrorCode | (string & {}),
    description: string,
    readonly status = 0,
    readonly body?: ApiErrorBody,
    options?: { cause?: unknown },
  ) {
    super(`${code}: ${description}`, options);
  }
}

/** Where more can be asked for: a page for people, the API and the agent tool, with the id of the budget or of the limited key. */
export type HowToAsk = { page: string; api?: string; tool?: string; budget_id?: string; key_id?: string };

/** A refusal by a budget or by the API key's monthly limit (402). Figures that the key may not read are undefined. */
export class BudgetExceededError extends OutlayError {
  override name = "BudgetExceededError";

  /** The budget that refuses; undefined if the key's own monthly limit does. */
  get budget(): { id: string; name: string } | undefined {
    return this.#field("budget");
  }

  /** USD in the period. */
  get limitUsd(): number | undefined {
    return this.#field("limit_usd");
  }

  /** The amount that is neither spent nor held by reservations, USD. */
  get remainingUsd(): number | undefined {
    return this.#field("remaining_usd");
  }

  /** When the period ends, as an ISO 8601 instant. */
  get resetsAt(): string | undefined {
    return this.#field("resets_at");
  }

  get howToAsk(): HowToAsk | undefined {
    return this.#field("how_to_ask");
  }

  #field<T>(name: string): T | undefined {
    return this.body?.[name] as T | undefined;
  }
}
