import type { ExactNumber } from "@/lib/contract/values/exact-number";
import type { Permission } from "./permissions";

/**
 * The fields of a key that its summary uses, from a response of the API or from a form that is being filled in.
 */
export type SummarizedKey = {
  permissions: readonly Permission[];
  /** The one project that the key is bound to. */
  project?: { slug: string } | null;
  conditions?: {
    project_slugs?: readonly string[] | null;
    deny_project_slugs?: readonly string[] | null;
    features?: readonly string[] | null;
    sources?: readonly string[] | null;
    users?: readonly string[] | null;
  } | null;
  monthly_limit?: ExactNumber | number | null;
  on_limit?: "refuse" | "record";
  expires_at?: string | null;
  rate_limit_rpm?: number | null;
  allowed_cidrs?: readonly string[] | null;
  environment?: "live" | "test";
};

const actions: Record<Permission, string> = {
  log_usage: "log usage",
  add_expenses: "add expenses",
  manage_subscriptions: "manage subscriptions",
  read_summaries: "read summaries",
  manage_alerts: "take and resolve alerts",
};

/**
 * Summarizes in one sentence what a key may do: "May log usage in checkout and search, up to $50 a month, until 1 March
 * 2027." Pure, so that a form can show it while it is being filled in.
 */
export function summarizeKey(key: SummarizedKey): string {
  if (key.permissions.length === 0) return "May do nothing yet.";
  const { features, sources, users } = key.conditions ?? {};
  const parts = [
    `May ${enumerate(key.permissions.map((permission) => actions[permission]))} ${summarizeProjects(key)}`,
    key.environment === "test" && "as test data",
    features?.length && `with the ${count(features, "feature")} ${enumerate(features, "or")}`,
    sources?.length && `with the ${count(sources, "source")} ${enumerate(sources, "or")}`,
    users?.length && `for the ${count(users, "user")} ${enumerate(users)}`,
    isSet(key.monthly_limit) &&
      `up to ${formatUsd(key.monthly_limit)} a month${key.on_limit === "record" ? " (more is recorded and marked)" : ""}`,
    key.rate_limit_rpm && `at most ${group(String(key.rate_limit_rpm))} requests a minute`,
    key.allowed_cidrs?.length && `from ${enumerate(key.allowed_cidrs, "or")}`,
    key.expires_at && formatEnd(key.expires_at),
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

function summarizeProjects({ project, conditions }: SummarizedKey): string {
  if (project) return `in ${project.slug}`;
  const { project_slugs: allowed, deny_project_slugs: denied } = conditions ?? {};
  if (allowed?.length) return `in ${enumerate(allowed)}`;
  return denied?.length ? `in every project but ${enumerate(denied)}` : "in every project";
}

/** How many entries a list names before it counts the rest. */
const maxNamed = 4;

function enumerate(entries: readonly string[], word = "and"): string {
  const rest = entries.length - maxNamed;
  // "and 1 more" would be no shorter than the name itself.
  const named = rest > 1 ? [...entries.slice(0, maxNamed), `${rest} more`] : [...entries];
  const last = named.pop() ?? "";
  return named.length === 0 ? last : `${named.join(", ")} ${word} ${last}`;
}

function count(entries: readonly string[], noun: string): string {
  return entries.length === 1 ? noun : `${noun}s`;
}

function isSet<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

function formatUsd(amount: ExactNumber | number): string {
  const [whole = "0", fraction] = (typeof amount === "number" ? String(amount) : amount.text).split(".");
  return `$${group(whole)}${fraction ? `.${fraction.padEnd(2, "0")}` : ""}`;
}

/** Groups digits by thousands: 1,250,000. */
function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * "until 1 March 2027", in UTC, without the time of day when it is midnight. Empty for a value that is not yet an
 * instant.
 */
function formatEnd(instant: string): string | undefined {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return undefined;
  const date = at.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  const time = at.toISOString().slice(11, 16);
  return `until ${date}${time === "00:00" ? "" : ` at ${time} UTC`}`;
}
