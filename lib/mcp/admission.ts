import { toolsResources } from "@/lib/access/oauth/addresses";
import type { IngestRequest } from "@/lib/contract/ledger/message";
import { accepted, ServiceError, type Verdict } from "@/lib/errors";
import type { KeyLookup } from "@/lib/keys/api-key";
import type { RateStatus } from "@/lib/keys/decide";
import { type KeyPrincipal, toPrincipal } from "@/lib/keys/identify";
import { acceptedOne, type Recorded } from "@/lib/ledger/ingest/call";
import { ingest } from "@/lib/ledger/ingest/service";
import { passSpan } from "@/lib/tracing";
import { admitToolCall, inviteSignIn } from "./admit-tool-call";

/** Who sends a request to the agent tools. `resource`: the endpoint's address for this caller, see `resourceAt`. */
type ToolCaller = { lookup: KeyLookup; address: string | undefined; resource: string };

/**
 * The admission of one request to the agent tools. The request is admitted and counted once: by `require`, or, if `record` is
 * called first, in the transaction that records its message.
 */
export class ToolAdmission {
  /** The state of the key's rate after the request was counted. */
  rate: RateStatus | null = null;
  #outcome: Verdict<KeyPrincipal> | undefined;
  #recording: Promise<unknown> | undefined;

  constructor(private readonly caller: ToolCaller) {}

  /** The address that the request came from, where it is known. */
  get address(): string | undefined {
    return this.caller.address;
  }

  /**
   * Admits the request, unless it was admitted before.
   * @throws ServiceError the refusal of the key, with the `WWW-Authenticate` that makes a client sign in; unavailable
   */
  async require(): Promise<KeyPrincipal> {
    await this.#recording;
    if (!this.#outcome) {
      const { outcome, rate } = await admitToolCall(this.caller);
      this.rate = rate;
      this.#outcome = outcome;
    }
    const principal = accepted(this.#outcome);
    passSpan(this.caller.lookup, principal.claims);
    return principal;
  }

  /**
   * Records a message of the request. The first one admits the request, too, if `require` was not called.
   * @param dryRun only says what would be recorded
   * @throws ServiceError the refusal of the key or of the message; unavailable
   */
  async record(message: Verdict<IngestRequest>, dryRun = false): Promise<Recorded> {
    const { lookup, address, resource } = this.caller;
    const isAdmitted = this.#outcome !== undefined;
    const recording = ingest({
      lookup,
      address,
      audiences: toolsResources(),
      isAdmitted,
      dryRun,
      idempotencyHeader: null,
      body: message,
    });
    if (isAdmitted) return acceptedOne((await recording).outcome);
    const settled = recording.then(({ outcome, rate, caller }) => {
      this.rate = rate;
      if (caller) this.#outcome = toPrincipal(caller.key, caller.token);
      else if (outcome instanceof ServiceError) this.#outcome = inviteSignIn(outcome, resource);
      return outcome;
    });
    // Whether a failed recording was counted is not known, so `require` then admits the request by itself.
    this.#recording = settled.catch(() => {});
    return acceptedOne(await settled);
  }
}
