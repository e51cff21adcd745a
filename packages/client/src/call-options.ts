import type { OutlayError } from "./errors.js";

/** What the recorded calls have in common. Each is left out where it is not given. */
export type CallOptions = {
  /** The project. Default: the client's. */
  project?: string | undefined;
  /** The feature that the calls serve. */
  feature?: string | undefined;
  /** The person that the calls are for: an e-mail address, an id or a pseudonym of your own. */
  user?: string | undefined;
  /** What the calls belong to, by names of your own, such as `{ team: "growth" }`. */
  tags?: Record<string, string> | undefined;
  /** Who is paid, where the wrapper cannot know: behind a proxy, or for an endpoint that speaks another's protocol. */
  provider?: string | undefined;
  /**
   * Whether limits stop calls: each reserves what it may cost before it is made, and fails with a `BudgetExceededError` where a limit
   * leaves no room. Default `false`: calls are recorded after they were made.
   */
  enforce?: boolean | EnforceOptions | undefined;
};

/** The maximum usage of a call. Missing token counts are estimated. `usd` replaces the token counts. */
export type Estimate = {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  usd?: number | undefined;
};

/** How a wrapper enforces limits. */
export type EnforceOptions = {
  /**
   * What happens to a call when the service gives no decision. `open` (the default): it is made without a reservation, up to
   * `maxOpenCalls`. `closed`: it fails with the `OutlayError` `unreachable`.
   */
  whenUnreachable?: "open" | "closed" | undefined;
  /** The longest time to wait for the decision, in milliseconds. Default 2,000. */
  waitMs?: number | undefined;
  /** The most calls of a client of Outlay in an hour that are made without a reservation. Later ones fail. Default 100. */
  maxOpenCalls?: number | undefined;
  /** Called for each call that is made without a reservation. Without it, one line a minute is written to the console. */
  onOpenCall?: ((error: OutlayError) => void) | undefined;
  /** The output tokens to reserve if the request states no maximum. Default 8,192. */
  maxOutputTokens?: number | undefined;
  /**
   * The most that a request may use, where you know better than the estimate. What you leave out is estimated; null: it needs no
   * reservation, because it costs nothing. `request` is the body that the SDK sends, or the options of the AI SDK's call.
   */
  estimate?: ((request: unknown) => Estimate | null | undefined) | undefined;
  /** After how many seconds a reservation ends by itself: 10 to 3,600. Default 600, as long as the SDKs wait for an answer. */
  expiresInSeconds?: number | undefined;
};
