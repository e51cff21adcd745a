import type { ApiKey } from "./api-key";
import { isAddressIn } from "./ip-range";

/** Whether the key may use the project: its own project, else the allow-list, else all but the deny-list. */
export function allowsProject(key: ApiKey, slug: string): boolean {
  if (key.project) return key.project.slug === slug;
  const { project_slugs: allowed, deny_project_slugs: denied } = key.conditions;
  if (allowed?.length) return allowed.includes(slug);
  return !denied?.includes(slug);
}

/**
 * Whether the key may record usage under the feature. A key confined to features cannot record without one, because
 * leaving the name out would avoid the condition.
 */
export function allowsFeature(key: ApiKey, feature: string | undefined): boolean {
  const { features } = key.conditions;
  return !features?.length || (feature !== undefined && features.includes(feature));
}

export function allowsSource(key: ApiKey, source: string): boolean {
  const { sources } = key.conditions;
  return !sources?.length || sources.some((allowed) => allowed === source);
}

/** Whether the key may be used from the address. An unknown address matches no list. */
export function allowsAddress(key: ApiKey, address: string | undefined): boolean {
  return key.allowedCidrs.length === 0 || isAddressIn(address, key.allowedCidrs);
}
