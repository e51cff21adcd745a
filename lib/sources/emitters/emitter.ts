import type { Signal } from "@/lib/sources/otlp/entry";

/**
 * Names of attributes in order of preference. Each is looked up in the record, then in its resource. `name#member` is a member of an
 * attribute whose text is JSON.
 */
export type Names = readonly string[];

/**
 * The kinds of usage that are counted: tokens, then calls of tools that the provider runs. `unit`: the unit in messages. `partOf`: the
 * kind in which this one is counted too, as `reasoning` is in `output`.
 */
export const counted = {
  input: { unit: "input_tokens" },
  inputAudio: { unit: "input_audio_tokens", partOf: "input" },
  inputImage: { unit: "input_image_tokens", partOf: "input" },
  cacheRead: { unit: "cache_read_tokens" },
  cacheWrite: { unit: "cache_write_tokens" },
  cacheWrite5m: { unit: "cache_write_5m_tokens", partOf: "cacheWrite" },
  cacheWrite1h: { unit: "cache_write_1h_tokens", partOf: "cacheWrite" },
  cacheWrite12h: { unit: "cache_write_12h_tokens", partOf: "cacheWrite" },
  output: { unit: "output_tokens" },
  reasoning: { unit: "output_reasoning_tokens", partOf: "output" },
  outputAudio: { unit: "output_audio_tokens", partOf: "output" },
  outputImage: { unit: "output_image_tokens", partOf: "output" },
  webSearches: { unit: "web_searches" },
  codeExecutions: { unit: "code_executions" },
  rerankSearches: { unit: "rerank_searches" },
} as const satisfies Record<string, { unit: string; partOf?: string }>;

/** A kind of usage that is counted. */
export type TokenKind = keyof typeof counted;
export const tokenKinds = Object.keys(counted) as TokenKind[];

/** The attributes that have the user, session, feature, project and tags of a record. */
export type Attribution = {
  user: Names;
  session: Names;
  feature: Names;
  project: Names;
  /** Name of a tag → the attributes that it is read from. */
  tags: Readonly<Record<string, Names>>;
};

/** The attributes that identify the call that a record reports. */
export type Identity = {
  /** The provider's id of the response, which is the same in every emitter that saw it. */
  response?: Names;
  /** The provider's id of the request. */
  request?: Names;
  /** Attributes that together identify a record of its emitter. All must be present. */
  record?: Names;
};

/** Which records are counted, and how a count is read from them. */
export type Rule = {
  signal: Signal;
  /** The names of the span, event or metric; any by default. */
  names?: Names;
  /** The scopes of the records; any by default. */
  scopes?: readonly RegExp[];
  /** Attributes that must all be present. */
  requires?: Names;
  /** Attributes that must have one of these values. */
  where?: Readonly<Record<string, readonly string[]>>;
  /** Attributes that must not have one of these values, which mark records that repeat the counts of others. */
  except?: Readonly<Record<string, readonly string[]>>;
  /** The provider if the emitter always uses the same, otherwise the attributes that name it. */
  provider: string | Names;
  model: Names;
  /** The counts of a span or log record. */
  tokens?: Partial<Record<TokenKind, Names>>;
  /** Input tokens that the emitter does not count in its input, but that are billed as input. */
  furtherInput?: Names;
  /** For records without counts: the kind of which each record counts one. */
  one?: TokenKind;
  /** Whether a record is the sum of several calls. Then the prices of long requests do not apply. */
  isSum?: true;
  /** The kind of a metric's points, or the attribute that has it, with the kind for each value. */
  kind?: TokenKind | { attribute: string; kinds: Readonly<Record<string, TokenKind>> };
  /**
   * The attributes that have the service tier. The first one with a priced tier counts: `flex`, `priority`, `batch`, `ultrafast`, or
   * Anthropic's `fast`. Any other value is the standard tier.
   */
  tier?: Names;
  /** Whether the count of input tokens includes those read from the cache and written to it. */
  inputHasCache: boolean;
  /** Whether the count of output tokens includes the tokens of reasoning. */
  outputHasReasoning: boolean;
  /** The cost by the emitter's own account: in millionths of a USD, in USD, or as parts in USD. */
  cost?: {
    micros?: Names;
    usd?: Names;
    parts?: Names;
    /** The attributes that have the currency, if the cost may be in another than USD. */
    currency?: Names;
    /** The attributes that say who computed the cost. A cost by `provider` is the billed one. */
    givenBy?: Names;
  };
  identity: Identity;
  /** The attributes that have the time of the call (ISO 8601), if it is better than the record's own time. */
  time?: Names;
  attribution: Attribution;
};

/** A program or library that reports model calls. */
export type Emitter = {
  name: string;
  /** Whether its cost is what was billed, and is recorded. The costs of other emitters are estimates: those records are priced. */
  isCostTrusted?: true;
  /** The emitter is recognised by any of these. */
  services?: readonly RegExp[];
  scopes?: readonly RegExp[];
  attributes?: Names;
  /** How to count records: by the first rule that fits. Records without a fitting rule are not counted. */
  rules: readonly Rule[];
  /** Records that repeat the counted ones. The answer mentions them, because nothing is counted if only they are sent. */
  repeats?: readonly { signal: Signal; names: Names; remedy: string }[];
};
