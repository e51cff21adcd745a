/** A line of usage as a test writes it. Decimals are the text that goes into the JSON. */
export type Line = {
  model?: string;
  unit_type: string;
  quantity: string;
  cached_quantity?: string;
  estimated_cost?: string;
  feature?: string;
  user?: string;
  session?: string;
};

type When = { occurred_at?: string; tags?: Record<string, string> };

/** The five kinds of message. Absent and undefined members are the same here. */
export type Message =
  | ({ type: "usage"; provider: string; included?: boolean } & Line & When)
  | ({ type: "batch"; provider: string; batch_id: string; items: Line[] } & When)
  | ({ type: "expense"; vendor: string; amount: string; currency?: string } & When)
  | ({
      type: "subscription";
      vendor: string;
      amount: string;
      currency?: string;
      interval?: "month" | "year";
      starts_on?: string;
      recurring?: boolean;
      ends_on?: string;
    } & When)
  | ({ type: "allocation"; from_project: string; amount?: string; percent?: string } & When);

export type Source = "api" | "mcp" | "manual" | "import";

/** A message to post. `flaw` replaces some of its fields, so that it has to be refused. */
export type Post = {
  project: string;
  source: Source;
  idempotency_key?: string;
  message: Message;
  flaw?: Record<string, string>;
};

/** The keys of a sequence's workspace, each with other conditions. `alpha` is a project that exists from the start. */
export const keyOptions = {
  full: {},
  limited: { monthly_limit: "25" },
  limitedToThirty: { monthly_limit: "0.3" },
  allowed: { conditions: { project_slugs: ["alpha", "beta"] } },
  denied: { conditions: { deny_project_slugs: ["gamma"] } },
  bound: { conditions: { project_slugs: ["beta"] } },
  chatOnly: { conditions: { features: ["chat"] } },
  importOnly: { conditions: { sources: ["import"] } },
  usageOnly: { permissions: ["log_usage", "read_summaries"] },
  writeOnly: { permissions: ["log_usage"] },
  trial: { environment: "test" as const },
  limitedTrial: { environment: "test" as const, monthly_limit: "2" },
};
export type KeyName = keyof typeof keyOptions;

/** Whether a key may use a project, by the key's name: independent of how the service checks conditions. */
export function mayTouch(key: KeyName, project: string): boolean {
  if (key === "bound") return project === "alpha";
  if (key === "allowed") return project !== "gamma" && project !== "delta";
  if (key === "denied") return project !== "gamma";
  return true;
}

export const environmentOf = (key: KeyName): "live" | "test" =>
  key === "trial" || key === "limitedTrial" ? "test" : "live";

/** A step of a client: a call, a dry run, the same call twice at once, or an earlier call again. */
export type Step =
  | { key: KeyName; posts: Post[]; way: "single" | "bulk" | "bulk trial" | "twice at once" }
  | { again: number };

/** The workspace's prices: provider, model, unit, rate, start. */
export const prices = [
  ["acme", "fast", "input_tokens", "0.000003", "2024-02-29T00:00:00Z"],
  ["acme", "fast", "input_tokens", "0.0000041", "2026-01-01T00:00:00Z"],
  ["acme", "fast", "cache_read_tokens", "0.000000307", "2024-02-29T00:00:00Z"],
  ["acme", null, "output_tokens", "0.000000000000123457", "2024-02-29T00:00:00Z"],
  ["acme", null, "stamps", "0.333333333333333333", "2024-02-29T00:00:00Z"],
] as const;
