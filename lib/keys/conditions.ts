import { isAddressIn } from "@/lib/ip-range";
import type { ApiKey } from "./api-key";

/** Whether a key may use a project: its own project, or the allow-list, or all but the deny-list, in this order. */
export function allowsProject(key: ApiKey, slug: string): boolean {
  if (key.project) return key.project.slug === slug;
  const { project_slugs: allowed, deny_project_slugs: denied } = key.conditions;
  if (allowed?.length) return allowed.includes(slug);
  return !denied?.includes(slug);
}

/**
 * Whether a key may record usage under a feature. A key that is restricted to features cannot record without one,
 * because omitting the feature would bypass the condition.
 */
export function allowsFeature(key: ApiKey, feature: string | undefined): boolean {
  const { features } = key.conditions;
  return !features?.length || (feature !== undefined && features.includes(feature));
}

/** Whether a key may record for a user. A key that is limited to users cannot record without one, for the same reason. */
export function allowsUser(key: ApiKey, user: string | undefined): boolean {
  const { users } = key.conditions;
  return !users?.length || (user !== undefined && users.includes(user));
}

/** Whether a key may record with a source. */
export function allowsSource(key: ApiKey, source: string): boolean {
  const { sources } = key.conditions;
  return !sources?.length || sources.some((allowed) => allowed === source);
}

/** Whether a key may be used from an address. An unknown address matches no list. */
export function allowsAddress(key: ApiKey, address: string | undefined): boolean {
  return key.allowedCidrs.length === 0 || isAddressIn(address, key.allowedCidrs);
}
