// Made from lib/contract by `npm run build:client`; not to be edited.

/** Moves cost to `project` from another; the two entries sum to zero. Under `dry_run` it needs the permission `read_summaries`, too. */
export type AllocationMessage = {
  type: "allocation";
  /** The project that the cost is taken from; it must exist. */
  from_project: string;
  /** USD to move: no more than `from_project` has spent in that month of the workspace. This or `percent`. */
  amount?: number | undefined;
  /** Per cent of what `from_project` has spent so far this month. This or `amount`. Needs the permission `read_summaries`, too. */
  percent?: number | undefined;
  notes?: string | undefined;
  /** When the cost occurred; default now, at most 5 minutes ahead, not before the year 2000. */
  occurred_at?: string | undefined;
  /** A short text for people. */
  label?: string | undefined;
  /** A small flat object of your own, kept with the message. */
  metadata?: Record<string, string | number | boolean> | undefined;
  /** What the cost belongs to, by names of your own: `{ "team": "growth", "cost_center": "4711" }`. At most 10. Reads filter and sum by `name:value`. */
  tags?: Record<string, string> | undefined;
};

export type BatchItem = {
  /** The model as the provider names it. */
  model?: string | undefined;
  /** What is counted, for example `input_tokens`, `output_tokens`, `cache_read_tokens`, `requests`. */
  unit_type: string;
  /** How many units. */
  quantity: number;
  /** The part of `quantity` that the provider read from its cache, where its count of input tokens includes it. */
  cached_quantity?: number | undefined;
  /** All input tokens of the request this usage is of. Some models cost more for long requests; without it, the base price holds. */
  request_input_tokens?: number | undefined;
  /** How the provider served the request, where that changes its price: `batch`, `flex`, `priority`, `ultrafast`, or `fast` for Anthropic's fast mode; `standard` is the default. A tier for which the catalogue has no price leaves the usage unpriced. */
  service_tier?: "standard" | "batch" | "flex" | "priority" | "fast" | "ultrafast" | undefined;
  /** USD. If it is given, it is the cost, rounded half-even to 18 decimals. If it is left out, the service prices the usage. */
  estimated_cost?: number | undefined;
  /** The feature the usage served. */
  feature?: string | undefined;
  /** The person the usage was for: an e-mail address, an id or a pseudonym of your own. Never a secret; everybody who may read the message sees it. */
  user?: string | undefined;
  /** The conversation or run that the usage was part of, by an id of your own. */
  session?: string | undefined;
};

export type BatchMessage = {
  type: "batch";
  /** Who served the usage, for example `openai`. */
  provider: string;
  /** The batch as the provider or you name it. */
  batch_id: string;
  items: Array<BatchItem>;
  /** When the cost occurred; default now, at most 5 minutes ahead, not before the year 2000. */
  occurred_at?: string | undefined;
  /** A short text for people. */
  label?: string | undefined;
  /** A small flat object of your own, kept with the message. */
  metadata?: Record<string, string | number | boolean> | undefined;
  /** What the cost belongs to, by names of your own: `{ "team": "growth", "cost_center": "4711" }`. At most 10. Reads filter and sum by `name:value`. */
  tags?: Record<string, string> | undefined;
};

export type BulkResult = {
  /** Items with status 201, replays included. */
  recorded: number;
  refused: number;
  results: Array<RecordedMessage | {
    index: number;
    status: number;
    error: string;
    error_description: string;
  }>;
};

export type CostRequest = {
  /** Project slug. The project is created the first time its slug is used. */
  project: string;
  source: Source;
  /** Your own key for this message: the same key never records twice. */
  idempotency_key?: string | undefined;
  /** The reservation that the message settles. It may cost less than was held, or more: up to twice of it is recorded whatever the limits say by now. */
  reservation_id?: string | undefined;
  message: UsageMessage | BatchMessage | ExpenseMessage | SubscriptionMessage | AllocationMessage;
};

export type CostStatus = "client" | "priced" | "converted" | "unpriced" | "included";

export type ExpenseMessage = {
  type: "expense";
  /** Who was paid. */
  vendor: string;
  /** In `currency`. */
  amount: number;
  currency?: string | undefined;
  /** What kind of expense, for example `hosting`. */
  category?: string | undefined;
  /** Anything a person should know about it. */
  notes?: string | undefined;
  /** When the cost occurred; default now, at most 5 minutes ahead, not before the year 2000. */
  occurred_at?: string | undefined;
  /** A short text for people. */
  label?: string | undefined;
  /** A small flat object of your own, kept with the message. */
  metadata?: Record<string, string | number | boolean> | undefined;
  /** What the cost belongs to, by names of your own: `{ "team": "growth", "cost_center": "4711" }`. At most 10. Reads filter and sum by `name:value`. */
  tags?: Record<string, string> | undefined;
};

export type IngestResult = {
  id: string;
  /** The cost attributed, USD. */
  amount_usd: number;
  project_id: string;
  created_at: string;
  /** `client`: your own figure; `priced`: quantity × rate; `converted`: from another currency; `unpriced`: no price is known yet, amount_usd is 0 until one is set; `included`: a subscription covers it, amount_usd is 0. */
  cost_status: CostStatus;
  /** What `included` usage would have cost; null where no price is known. Other messages have none. */
  list_price_usd?: number | null | undefined;
  /** The exchange rate, only where `cost_status` is `converted`. */
  rate?: {
    /** USD for one unit of the currency. */
    usd_per_unit: number;
    /** The day that the rate is of. */
    rate_date: string;
    /** Who published it. */
    source: string;
    /** Whether the rate's day is more than a week from that of the cost, because no nearer rate is known. */
    is_old: boolean;
  } | undefined;
  /** The further periods of a recurring subscription that had begun already and were recorded with it. `amount_usd` is the first period's; the key's monthly limit counts them all. */
  due_periods?: Array<{
    /** The id of the period's own message. */
    id: string;
    starts_on: string;
    /** The charge of the period, USD. */
    amount_usd: number;
  }> | undefined;
  /** When the cost occurred, only where that is in a closed month: the cost is booked at `created_at`, as an adjustment of that month. */
  adjusts?: string | undefined;
  /** Only past the monthly limit of a key that records what is past it (`on_limit` is `record`). */
  over_limit?: {
    /** USD in a UTC month. */
    limit_usd: number;
    /** Recorded with the key this month, with this message, USD. */
    spent_usd: number;
  } | undefined;
  /** What became of the reservation that the message named. Only `settled` used it; otherwise the message was decided like one that names none. */
  reservation?: {
    id: string;
    state: "settled" | "settled_before" | "released" | "expired" | "unknown";
    /** What it held, USD. */
    held_usd?: number | undefined;
    /** What the message cost more than that, USD. */
    over_usd?: number | undefined;
  } | undefined;
  dry_run?: true | undefined;
};

export type RecordedMessage = {
  id: string;
  /** The cost attributed, USD. */
  amount_usd: number;
  project_id: string;
  created_at: string;
  /** `client`: your own figure; `priced`: quantity × rate; `converted`: from another currency; `unpriced`: no price is known yet, amount_usd is 0 until one is set; `included`: a subscription covers it, amount_usd is 0. */
  cost_status: CostStatus;
  /** What `included` usage would have cost; null where no price is known. Other messages have none. */
  list_price_usd?: number | null | undefined;
  /** The exchange rate, only where `cost_status` is `converted`. */
  rate?: {
    /** USD for one unit of the currency. */
    usd_per_unit: number;
    /** The day that the rate is of. */
    rate_date: string;
    /** Who published it. */
    source: string;
    /** Whether the rate's day is more than a week from that of the cost, because no nearer rate is known. */
    is_old: boolean;
  } | undefined;
  /** The further periods of a recurring subscription that had begun already and were recorded with it. `amount_usd` is the first period's; the key's monthly limit counts them all. */
  due_periods?: Array<{
    /** The id of the period's own message. */
    id: string;
    starts_on: string;
    /** The charge of the period, USD. */
    amount_usd: number;
  }> | undefined;
  /** When the cost occurred, only where that is in a closed month: the cost is booked at `created_at`, as an adjustment of that month. */
  adjusts?: string | undefined;
  /** Only past the monthly limit of a key that records what is past it (`on_limit` is `record`). */
  over_limit?: {
    /** USD in a UTC month. */
    limit_usd: number;
    /** Recorded with the key this month, with this message, USD. */
    spent_usd: number;
  } | undefined;
  /** What became of the reservation that the message named. Only `settled` used it; otherwise the message was decided like one that names none. */
  reservation?: {
    id: string;
    state: "settled" | "settled_before" | "released" | "expired" | "unknown";
    /** What it held, USD. */
    held_usd?: number | undefined;
    /** What the message cost more than that, USD. */
    over_usd?: number | undefined;
  } | undefined;
  dry_run?: true | undefined;
  index: number;
  status: 201;
  replayed: boolean;
};

export type Reservation = {
  id: string;
  state: "held" | "settled" | "released" | "expired";
  /** What it holds, or held, USD. */
  held_usd: number;
  created_at: string;
  /** When it ends by itself. */
  expires_at: string;
  /** The message that settled it. */
  message_id: string | null;
  settled_usd: number | null;
};

export type Source = "api" | "mcp" | "manual" | "import";

export type SubscriptionMessage = {
  type: "subscription";
  /** Who is paid. */
  vendor: string;
  /** The charge of one period, in `currency`. */
  amount: number;
  currency?: string | undefined;
  /** The period of this charge. A year's charge is spread evenly over its twelve months. */
  interval?: "month" | "year" | undefined;
  plan?: string | undefined;
  seats?: number | undefined;
  /** The first day of the period; default the day of `occurred_at`. */
  starts_on?: string | undefined;
  /** `true` books each following period by itself, once, until `ends_on` or until it is stopped. Periods that have begun already are recorded with the message, or it is refused whole; the first may be at most 24 months back, and one bulk call charges at most 1,000 past periods. Later ones are booked by the workspace and count against no key. Leave it out where you post every charge yourself. */
  recurring?: boolean | undefined;
  /** No period begins after this day. Only with `recurring`. */
  ends_on?: string | undefined;
  /** When the cost occurred; default now, at most 5 minutes ahead, not before the year 2000. */
  occurred_at?: string | undefined;
  /** A short text for people. */
  label?: string | undefined;
  /** A small flat object of your own, kept with the message. */
  metadata?: Record<string, string | number | boolean> | undefined;
  /** What the cost belongs to, by names of your own: `{ "team": "growth", "cost_center": "4711" }`. At most 10. Reads filter and sum by `name:value`. */
  tags?: Record<string, string> | undefined;
};

export type UsageLine = {
  /** What is counted, for example `input_tokens`, `output_tokens`, `cache_read_tokens`, `requests`. */
  unit_type: string;
  /** How many units. */
  quantity: number;
  /** USD. If it is given, it is the cost, rounded half-even to 18 decimals. If it is left out, the service prices the usage. */
  estimated_cost?: number | undefined;
};

export type UsageMessage = {
  type: "usage";
  /** Who served the usage, for example `openai`. */
  provider: string;
  /** The model as the provider names it. */
  model?: string | undefined;
  /** All input tokens of the request this usage is of. Some models cost more for long requests; without it, the base price holds. */
  request_input_tokens?: number | undefined;
  /** How the provider served the request, where that changes its price: `batch`, `flex`, `priority`, `ultrafast`, or `fast` for Anthropic's fast mode; `standard` is the default. A tier for which the catalogue has no price leaves the usage unpriced. */
  service_tier?: "standard" | "batch" | "flex" | "priority" | "fast" | "ultrafast" | undefined;
  /** The feature the usage served. */
  feature?: string | undefined;
  /** The person the usage was for: an e-mail address, an id or a pseudonym of your own. Never a secret; everybody who may read the message sees it. */
  user?: string | undefined;
  /** The conversation or run that the usage was part of, by an id of your own. */
  session?: string | undefined;
  /** An id of your own that groups messages. */
  batch_id?: string | undefined;
  /** `true`: a subscription covers it. It costs nothing, and its cost by the price list, or `estimated_cost`, is kept beside it. */
  included?: boolean | undefined;
  /** When the cost occurred; default now, at most 5 minutes ahead, not before the year 2000. */
  occurred_at?: string | undefined;
  /** A short text for people. */
  label?: string | undefined;
  /** A small flat object of your own, kept with the message. */
  metadata?: Record<string, string | number | boolean> | undefined;
  /** What the cost belongs to, by names of your own: `{ "team": "growth", "cost_center": "4711" }`. At most 10. Reads filter and sum by `name:value`. */
  tags?: Record<string, string> | undefined;
} & (
  | {
    /** What is counted, for example `input_tokens`, `output_tokens`, `cache_read_tokens`, `requests`. */
    unit_type: string;
    /** How many units. */
    quantity: number;
    /** The part of `quantity` that the provider read from its cache, where its count of input tokens includes it. */
    cached_quantity?: number | undefined;
    /** USD. If it is given, it is the cost, rounded half-even to 18 decimals. If it is left out, the service prices the usage. */
    estimated_cost?: number | undefined;
    lines?: undefined;
  }
  | {
    /** What one call of a model used, a line for each kind: instead of `unit_type` and `quantity`. It is one message with one amount. */
    lines: Array<UsageLine>;
    unit_type?: undefined;
    quantity?: undefined;
    cached_quantity?: undefined;
    estimated_cost?: undefined;
  }
);

/** The code of an error that the API answers. */
export type ApiErrorCode =
  | "invalid_json"
  | "validation_failed"
  | "query_too_broad"
  | "missing_credentials"
  | "invalid_credentials"
  | "key_revoked"
  | "key_expired"
  | "monthly_limit_exceeded"
  | "budget_exceeded"
  | "permission_denied"
  | "project_not_allowed"
  | "feature_not_allowed"
  | "user_not_allowed"
  | "source_not_allowed"
  | "ip_not_allowed"
  | "origin_not_allowed"
  | "mfa_required"
  | "recent_sign_in_required"
  | "workspace_deleted"
  | "account_deleted"
  | "not_found"
  | "method_not_allowed"
  | "idempotency_conflict"
  | "slug_taken"
  | "conflict"
  | "payload_too_large"
  | "unsupported_media_type"
  | "misdirected_request"
  | "rate_limited"
  | "export_in_progress"
  | "internal_error"
  | "unavailable";

