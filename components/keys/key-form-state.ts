import type { z } from "zod";
import { readTypedAmount } from "@/components/typed-amount";
import type { createApiKeyRequest } from "@/lib/contract/api-keys";
import { describeKey } from "@/lib/contract/describe-key";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { Source } from "@/lib/contract/message";
import type { Permission } from "@/lib/contract/permissions";
import type { KeyView } from "./key-view";

/** A key as it is filled in: numbers as they are typed, lists as they are chosen. */
export type KeyForm = {
  name: string;
  permissions: Permission[];
  /** What `projects` is: of no consequence, the only ones, or those left out. */
  where: "all" | "only" | "except";
  projects: string[];
  monthlyLimit: string;
  /** An instant, or empty for never. */
  expiresAt: string;
  /** The one project it is bound to. */
  project: { id: string; slug: string } | null;
  features: string[];
  sources: Source[];
  ratePerMinute: string;
  allowedCidrs: string[];
  environment: "live" | "test";
};

/** What the form of a new key begins with. */
export const newKeyForm: KeyForm = {
  name: "",
  permissions: ["log_usage"],
  where: "all",
  projects: [],
  monthlyLimit: "",
  expiresAt: "",
  project: null,
  features: [],
  sources: [],
  ratePerMinute: "",
  allowedCidrs: [],
  environment: "live",
};

/** What the form of an existing key begins with. */
export function formOf(key: KeyView): KeyForm {
  const { project_slugs: only, deny_project_slugs: except, features, sources } = key.conditions;
  return {
    name: key.name,
    permissions: key.permissions,
    where: only.length > 0 ? "only" : except.length > 0 ? "except" : "all",
    projects: only.length > 0 ? only : except,
    monthlyLimit: key.monthly_limit ?? "",
    expiresAt: key.expires_at ?? "",
    project: key.project_id && key.project ? { id: key.project_id, slug: key.project.slug } : null,
    features,
    sources,
    ratePerMinute: key.rate_limit_rpm === null ? "" : String(key.rate_limit_rpm),
    allowedCidrs: key.allowed_cidrs,
    environment: key.environment,
  };
}

/**
 * Reads a form as a request.
 * @returns with `errors` by the API's own paths, for what could not even be sent or would not mean what it seems to
 */
export function readKeyForm(form: KeyForm): { request: KeyRequest; errors: Record<string, string> } {
  const limit = readTypedAmount(form.monthlyLimit);
  const rate = readTypedAmount(form.ratePerMinute);
  const errors: Record<string, string> = {};
  if (limit === undefined) errors.monthly_limit = "must be an amount, like 50 or 12.50";
  if (rate === undefined || rate?.includes(".")) errors.rate_limit_rpm = "must be a whole number";
  // Nothing chosen would be sent as an empty list, which allows every project.
  if (form.where === "only" && form.projects.length === 0) {
    errors["conditions.project_slugs"] = "choose at least one project";
  }
  return { request: toRequest(form), errors };
}

/** Everything of a key that can be edited, as the API takes it. */
type KeyRequest = ReturnType<typeof toRequest>;

function toRequest(form: KeyForm) {
  const limit = readTypedAmount(form.monthlyLimit);
  const rate = readTypedAmount(form.ratePerMinute);
  return {
    name: form.name.trim(),
    permissions: form.permissions,
    project_id: form.project?.id ?? null,
    conditions: {
      project_slugs: form.where === "only" ? form.projects : [],
      deny_project_slugs: form.where === "except" ? form.projects : [],
      features: form.features,
      sources: form.sources,
    },
    monthly_limit: limit ? new ExactNumber(limit) : null,
    expires_at: form.expiresAt || null,
    rate_limit_rpm: rate ? Number(rate) : null,
    allowed_cidrs: form.allowedCidrs,
  } satisfies z.input<typeof createApiKeyRequest>;
}

/** The fields that differ from what the form began with, so that an edit leaves alone what it did not touch. */
export function changedFields(before: KeyForm, after: KeyForm): Partial<KeyRequest> {
  const old = toRequest(before);
  const asText = (value: unknown) => (value instanceof ExactNumber ? value.text : JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(toRequest(after)).filter(
      ([field, value]) => asText(value) !== asText(old[field as keyof KeyRequest]),
    ),
  );
}

/** What the key of a form may do, in words, while it is filled in. */
export function describeKeyForm(form: KeyForm): string {
  return describeKey({ ...toRequest(form), project: form.project, environment: form.environment });
}

/**
 * What is wrong with a field, its entries included.
 * @param errors by path, as the API names them
 * @param entries what stands in a list, to say which of them it is
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
