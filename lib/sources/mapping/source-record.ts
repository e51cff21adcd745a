import type { Decimal } from "@/lib/decimal";
import type { CallKeys } from "@/lib/ledger/ingest/call";
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";
import type { TokenKind } from "@/lib/sources/emitters/emitter";
import type { Attributes } from "@/lib/sources/otlp/entry";

/**
 * The usage of a call. `input` excludes tokens that were read from or written to the cache. A kind that is part of another (`counted` in
 * `emitters/emitter.ts`) is counted in both: `output` includes `reasoning`. Kinds that were not reported are missing.
 */
export type Tokens = Partial<Record<TokenKind, Decimal>>;

/** One call of a model, or the count of a metric in one period, in a form that is the same for all emitters. */
export type SourceRecord = {
  /** The name of the emitter's row in the table. */
  emitter: string;
  /** Whether the table has a row for the emitter; otherwise the conventions were applied. */
  isKnownEmitter: boolean;
  /** `service.name` of its resource, or what a gateway has instead; may be empty. */
  service: string;
  scope: string;
  /** ISO 8601 in UTC; undefined if the record has no time. */
  occurredAt: string | undefined;
  provider: string;
  model: string | undefined;
  tokens: Tokens;
  /** All input tokens of the request, cached ones included; undefined for a metric, which sums up requests. */
  requestInput: Decimal | undefined;
  /** The service tier; undefined for the standard tier and if unknown. */
  tier: Exclude<ServiceTier, "standard"> | undefined;
  /** The cost that the emitter reported, USD. */
  givenCostUsd: Decimal | undefined;
  /** Whether `givenCostUsd` is recorded as the cost, unless a setting of the source says otherwise. */
  isCostTrusted: boolean;
  /** Whether a subscription covers it. Then it is recorded as included, at no cost. */
  isIncluded: boolean;
  user: string | undefined;
  session: string | undefined;
  project: string | undefined;
  feature: string | undefined;
  tags: Record<string, string>;
  /** User, session and tags that cannot be stored, each with the reason. */
  leftOut: string[];
  /** The attributes that the settings of the source may use; see `source-settings.ts`. */
  offered: Attributes;
  keys: CallKeys;
  /** Set for a point of a metric. */
  series: SeriesPoint | undefined;
  /** The units that the record belongs to, see `claimsOf`. */
  claims: string[];
};

/** A point of a series: its value is in the record's tokens. Times are nanoseconds since 1970 as decimal text. */
export type SeriesPoint = { id: string; startNs: string; timeNs: string; isTotal: boolean; value: Decimal };
