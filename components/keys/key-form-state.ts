import type { z } from "zod";
import { parseAmount } from "@/components/figures/parse-amount";
import type { createApiKeyRequest } from "@/lib/contract/access/api-keys";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import { summarizeKey } from "@/lib/contract/access/summarize-key";
import type { MessageSource } from "@/lib/contract/ledger/message";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import type { KeyView } from "./key-view";

/** The values of the key form: amounts as typed, lists as chosen. */
export type KeyForm = {
  name: string;
  permissions: KeyPermission[];
  /** Whether the key may use all projects, only `projects`, or all except `projects`. */
  where: "all" | "only" | "except";
  /** Slugs. */
  projects: string[];
  /** USD, as typed; empty for no limit. */
  monthlyLimit: string;
  /** Whether costs beyond the monthly limit are still recorded. */
  recordsPastLimit: boolean;
  /** ISO 8601; empty for a key that does not expire. */
  expiresAt: string;
  /** The one project that the key is bound to. */
  project: { id: string; slug: string } | null;
  features: string[];
  sources: MessageSource[];
  /** The users for whom it may record, as messages name them. */
  users: string[];
  /** Requests in any 60 seconds, as typed; empty for no limit. */
  ratePerMinute: string;
  allowedCidrs: string[];
  environment: "live" | "test";
};

/** The initial values for a new key. */
export const newKeyForm: KeyForm = {
  name: "",
  permissions: ["log_usage"],
  where: "all",
  projects: [],
  monthlyLimit: "",
  recordsPastLimit: false,
  expiresAt: "",
  project: null,
  features: [],
  sources: [],
  users: [],
  ratePerMinute: "",
  allowedCidrs: [],
  environment: "live",
};

/** The initial values for editing a key. */
export function toKeyForm(key: KeyView): KeyForm {
  const { project_slugs: only, deny_project_slugs: except, features, sources, users } = key.conditions;
  return {
    name: key.name,
    permissions: key.permissions,
    where: only.length > 0 ? "only" : except.length > 0 ? "except" : "all",
    projects: only.length > 0 ? only : except,
    monthlyLimit: key.monthly_limit ?? "",
    recordsPastLimit: key.on_limit === "record",
    expiresAt: key.expires_at ?? "",
    project: key.project_id && key.project ? { id: key.project_id, slug: key.project.slug } : null,
    features,
    sources,
    users,
    ratePerMinute: key.rate_limit_rpm === null ? "" : String(key.rate_limit_rpm),
    allowedCidrs: key.allowed_cidrs,
    environment: key.environment,
  };
}

/**
 * Turns the form's values into a request.
 * @returns the request, and `errors` by the API's paths for values that cannot be sent, or would mean something else
 */
export function parseKeyForm(form: KeyForm): { request: KeyRequest; errors: Record<string, string> } {
  const limit = parseAmount(form.monthlyLimit);
  const rate = parseAmount(form.ratePerMinute);
  const errors: Record<string, string> = {};
  if (limit === undefined) errors.monthly_limit = "must be an amount, like 50 or 12.50";
  if (rate === undefined || rate.includes(".")) errors.rate_limit_rpm = "must be a whole number";
  // Without a project, the request would have an empty list, which allows every project.
  if (form.where === "only" && form.projects.length === 0) {
    errors["conditions.project_slugs"] = "choose at least one project";
  }
  return { request: toRequest(form), errors };
}

/** The editable fields of a key in the form of the API. */
type KeyRequest = ReturnType<typeof toRequest>;

function toRequest(form: KeyForm) {
  const limit = parseAmount(form.monthlyLimit);
  const rate = parseAmount(form.ratePerMinute);
  return {
    name: form.name.trim(),
    permissions: form.permissions,
    project_id: form.project?.id ?? null,
    conditions: {
      project_slugs: form.where === "only" ? form.projects : [],
      deny_project_slugs: form.where === "except" ? form.projects : [],
      features: form.features,
      sources: form.sources,
      users: form.users,
    },
    monthly_limit: limit ? new ExactNumber(limit) : null,
    on_limit: form.recordsPastLimit ? ("record" as const) : ("refuse" as const),
    expires_at: form.expiresAt || null,
    rate_limit_rpm: rate ? Number(rate) : null,
    allowed_cidrs: form.allowedCidrs,
  } satisfies z.input<typeof createApiKeyRequest>;
}

/** The fields of a request that differ between two states of the form, so that an edit sends only what was changed. */
export function changedFields(before: KeyForm, after: KeyForm): Partial<KeyRequest> {
  const old = toRequest(before);
  const asText = (value: unknown) => (value instanceof ExactNumber ? value.text : JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(toRequest(after)).filter(
      ([field, value]) => asText(value) !== asText(old[field as keyof KeyRequest]),
    ),
  );
}

/** A sentence that says what a key with the form's values may do. */
export function summarizeKeyForm(form: KeyForm): string {
  return summarizeKey({ ...toRequest(form), project: form.project, environment: form.environment });
}

/**
 * Finds the error of a field or of one of its entries.
 * @param errors by the API's paths
 * @param entries the entries of a list, to name the one that is wrong
 */
export function errorOf(
  errors: Record<string, string>,
  path: string,
  entries: readonly string[] = [],
): string | undefined {
  const own = errors[path];
  if (own) return own;
  const found = Object.entries(errors).find(([candidate]) => candidate.startsWith(`${path}.`));
  if (!found) return undefined;
  const entry = entries[Number(found[0].slice(path.length + 1))];
  return entry === undefined ? found[1] : `${entry} ${found[1]}`;
}
