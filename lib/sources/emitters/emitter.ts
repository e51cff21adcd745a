import type { Signal } from "@/lib/sources/otlp/entry";

/**
 * Names of attributes, the best first: the first that a record, or else its resource, has. `name#member` is a number in an
 * attribute whose text is JSON.
 */
export type Names = readonly string[];

/**
 * What is counted apart, and what it is a part of: `cacheWrite1h` is counted in `cacheWrite` too, as `reasoning` is in `output`.
 * `unit`: what a message has it as. Tokens first, then calls of tools that the provider runs.
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

/** The kinds of tokens that are counted apart, and the calls of tools. */
export type TokenKind = keyof typeof counted;
export const tokenKinds = Object.keys(counted) as TokenKind[];

/** Where a record names its model, units and so on. */
export type Attribution = {
  user: Names;
  session: Names;
  feature: Names;
  project: Names;
  /** Attributes that say something about the cost's owner, by the name of the tag that they become. */
  tags: Readonly<Record<string, Names>>;
};

/** What identifies the call of a model that a record tells of. */
export type Identity = {
  /** The provider's id of the answer: the same in every emitter that saw it. */
  response?: Names;
  /** The provider's id of the request. */
  request?: Names;
  /** Attributes that together name a record among those of its emitter. All must be there. */
  record?: Names;
};

/** Which records are counted, and how a count is read from them. */
export type Rule = {
  signal: Signal;
  /** The names of the span, event or metric; any where left out. */
  names?: Names;
  /** The scopes of the records; any where left out. */
  scopes?: readonly RegExp[];
  /** Attributes that must be there, all of them. */
  requires?: Names;
  /** Attributes that must have one of these values. */
  where?: Readonly<Record<string, readonly string[]>>;
  /** Attributes that must not have one of these values: records of another kind, which repeat what these say. */
  except?: Readonly<Record<string, readonly string[]>>;
  /** The provider, where the emitter always uses the same; otherwise the attributes that name it. */
  provider: string | Names;
  model: Names;
  /** The counts of a span or log record. */
  tokens?: Partial<Record<TokenKind, Names>>;
  /** Further input tokens that the emitter counts apart from its input, and that are billed as input. */
  furtherInput?: Names;
  /** What each record is one of, where it tells no counts. */
  one?: TokenKind;
  /** Whether a record is the sum of several calls. The price of a long request is not theirs. */
  isSum?: true;
  /** The kind of a point of a metric: the kind itself, or an attribute and what its values mean. */
  kind?: TokenKind | { attribute: string; kinds: Readonly<Record<string, TokenKind>> };
  /**
   * How the provider served the call, the first that changes its price: `flex`, `priority`, `batch`, `ultrafast`, or Anthropic's `fast`. Any
   * other value is the standard.
   */
  tier?: Names;
  /** Whether the count of input tokens includes those read from the cache and written to it. */
  inputHasCache: boolean;
  /** Whether the count of output tokens includes the tokens of reasoning. */
  outputHasReasoning: boolean;
  /** The emitter's own figure of the cost: millionths of a USD, USD, or the parts of it in USD. */
  cost?: {
    micros?: Names;
    usd?: Names;
    parts?: Names;
    /** Where the currency is, if the figure may be in another than USD. */
    currency?: Names;
    /** Where it is said who gave the figure: `provider` gave what it bills. */
    givenBy?: Names;
  };
  identity: Identity;
  /** When it happened, where the record's own time says less: ISO 8601. */
  time?: Names;
  attribution: Attribution;
};

/** A program or library that reports model calls. */
export type Emitter = {
  name: string;
  /** Its figure of the cost is what was billed, and is recorded; others' figures are estimates, and the price list decides. */
  isCostTrusted?: true;
  /** What tells it: any of these. */
  services?: readonly RegExp[];
  scopes?: readonly RegExp[];
  attributes?: Names;
  /** The records to count; the first rule that fits is used. What no rule fits is not counted. */
  rules: readonly Rule[];
  /** Records that repeat what the counted ones say: named in the answer, because nothing is counted where they come alone. */
  repeats?: readonly { signal: Signal; names: Names; remedy: string }[];
};
