import type { Decimal } from "@/lib/decimal";
import type { CallKeys } from "@/lib/ledger/ingest/call";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import type { TokenKind } from "@/lib/sources/emitters/emitter";
import type { Attributes } from "@/lib/sources/otlp/entry";

/**
 * What a call of a model used. `input` is what was neither read from the cache nor written to it. A kind that is a part of
 * another (`counted` in `emitters/emitter.ts`) is counted in that, too: `output` includes `reasoning`. What was not told is
 * absent.
 */
export type Tokens = Partial<Record<TokenKind, Decimal>>;

/** One call of a model, or what a metric counted in one period, whoever told it. */
export type SourceRecord = {
  /** The name of the emitter's row in the table. */
  emitter: string;
  /** Whether the table has a row for the emitter; otherwise the conventions were applied. */
  isKnownEmitter: boolean;
  /** Who sent it, for people: the service, or else the scope. */
  service: string;
  scope: string;
  /** ISO 8601 in UTC; undefined where the record does not say. */
  occurredAt: string | undefined;
  provider: string;
  model: string | undefined;
  tokens: Tokens;
  /** All input tokens of the request, cached ones included; undefined for a metric, which sums up requests. */
  requestInput: Decimal | undefined;
  /** How the provider served it; undefined for the standard, and where nobody says. */
  tier: Exclude<ServiceTier, "standard"> | undefined;
  /** The emitter's own figure of the cost, USD. */
  givenCostUsd: Decimal | undefined;
  /** Whether `givenCostUsd` is recorded as the cost, where the source has no setting about it. */
  isCostTrusted: boolean;
  /** Whether a subscription covers it: it is recorded as included, at no cost. */
  isIncluded: boolean;
  user: string | undefined;
  session: string | undefined;
  project: string | undefined;
  feature: string | undefined;
  tags: Record<string, string>;
  /** What it says of these and cannot be kept, each with the reason. */
  leftOut: string[];
  /** The attributes that the settings of the source may use; see `source-settings.ts`. */
  offered: Attributes;
  keys: CallKeys;
  /** Set for a point of a metric. */
  series: SeriesPoint | undefined;
  /** The units that the record is about, see `signal-claims.ts`; empty where its emitter is counted by one signal alone. */
  claims: string[];
};

/** A point of a series: its value is in the record's tokens. Times are nanoseconds since 1970 as decimal text. */
export type SeriesPoint = { id: string; startNs: string; timeNs: string; isTotal: boolean; value: Decimal };
