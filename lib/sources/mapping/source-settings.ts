import { looksLikeSecret, tagValue } from "@/lib/contract/ledger/attribution";
import { offeredAttributes } from "@/lib/contract/sources/source-programs";
import { mayHoldContent } from "@/lib/contract/sources/sources";
import type { ApiKey, StoredSource } from "@/lib/keys/api-key";
import type { Attributes } from "@/lib/sources/otlp/entry";
import { cutText, firstText } from "./first-of";
import type { SourceRecord } from "./source-record";

/*
 * Applies the settings of a source (an API key) to a record. They are applied when a record is recorded, not when it is read, so that a
 * refused record that is sent again is recorded by the settings of that time.
 */

const always = new Set<string>(Object.values(offeredAttributes).flat());

/** Longer texts are not names. They are ignored and not cut, because a cut name would name something else. */
const maxNameLength = 200;

/** The attributes that a source's settings may use: those that every source is offered, and those that these settings name. */
export function offeredNames(settings: StoredSource | null): ReadonlySet<string> {
  const named = namedAttributes(settings).filter((name) => !always.has(name));
  return named.length === 0 ? always : new Set([...always, ...named]);
}

/** The attributes that the settings name, without those that may hold a prompt or a secret. */
export function namedAttributes(settings: StoredSource | null): string[] {
  const { project_attribute: project, feature_attribute: feature, tags = [] } = settings ?? {};
  return [project, feature, ...tags.map(({ attribute }) => attribute)].filter(
    (name) => name !== undefined && !mayHoldContent(name),
  ) as string[];
}

/** Whether the reported cost is recorded. @param isTrusted whether it is without a setting of the source */
export function trustsCost(settings: StoredSource | null, isTrusted: boolean): boolean {
  return settings?.trusted_cost ?? isTrusted;
}

/** Whether a subscription covers a record, so that it is recorded as included. */
export function isCovered(record: SourceRecord, { source }: Pick<ApiKey, "source">): boolean {
  return source?.subscription_covered ?? record.isIncluded;
}

/** The feature of a record: from the attribute of the settings, the emitter's attributes, or the default of the settings. */
export function featureOf(record: SourceRecord, { source }: Pick<ApiKey, "source">): string | undefined {
  const chosen = nameIn(record.offered, source?.feature_attribute);
  const feature = chosen ?? record.feature ?? source?.default_feature;
  return feature === undefined ? undefined : cutText(feature, maxFeatureLength);
}

/** A longer feature is cut. */
export const maxFeatureLength = 128;

/** The tags of a record: those of the settings, or those of its emitter if the settings name none. */
export function tagsOf(record: SourceRecord, { source }: Pick<ApiKey, "source">): Record<string, string> {
  const chosen = source?.tags;
  return !chosen || chosen.length === 0 ? record.tags : chosenTags(chosen, record.offered);
}

/** The tags of a source's settings, from the attributes that they name. */
export function chosenTags(
  chosen: NonNullable<StoredSource["tags"]>,
  offered: Attributes,
): Record<string, string> {
  return Object.fromEntries(
    chosen.flatMap(({ name, attribute }) => {
      const value = tagValue.safeParse(nameIn(offered, attribute));
      return value.success ? [[name, value.data]] : [];
    }),
  );
}

/** The default names of services that have none (OpenTelemetry, resource conventions). */
const unnamedService = /^unknown_service/;

/**
 * The project of a record, as a slug. The first of these that is set: the attribute of the settings, the emitter's attributes, the default
 * of the settings, the key's own project, the only project in the key's conditions, the service, the emitter. The guard decides whether
 * the key may use it.
 */
export function projectOf(
  { project, service, emitter, offered }: SourceRecord,
  { project: own, conditions, source }: Pick<ApiKey, "project" | "conditions" | "source">,
): string {
  const [only, ...others] = conditions.project_slugs ?? [];
  return (
    toSlug(nameIn(offered, source?.project_attribute)) ??
    toSlug(project) ??
    source?.default_project ??
    own?.slug ??
    (others.length === 0 ? only : undefined) ??
    (unnamedService.test(service) ? undefined : toSlug(service)) ??
    emitter
  );
}

/** The value of an attribute that the settings name; undefined if it is missing, too long for a name, or looks like a secret. */
export function nameIn(offered: Attributes, attribute: string | undefined): string | undefined {
  if (attribute === undefined || mayHoldContent(attribute)) return undefined;
  const value = firstText([attribute], offered);
  return value === undefined || value.length > maxNameLength || looksLikeSecret(value) ? undefined : value;
}

/** `Checkout API` → `checkout-api`, `https://github.com/acme/shop.git` → `shop`; undefined if nothing is left. */
export function toSlug(name: string | undefined): string | undefined {
  const slug = nameOfRepository(name)
    ?.toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, 64);
  return slug || undefined;
}

/** The name in a repository's URL (`https://host/acme/shop.git`, `git@host:acme/shop.git`). Other text is returned unchanged. */
function nameOfRepository(text: string | undefined): string | undefined {
  if (text === undefined || !/^(?:[a-z][a-z0-9+.-]{0,20}:\/\/|[\w.-]{1,64}@[\w.-]{1,200}:)/i.test(text))
    return text;
  const [path = ""] = text.split(/[?#]/, 1);
  const parts = path.split(/[/:]/).filter((part) => part !== "");
  return parts.at(-1)?.replace(/\.git$/i, "");
}
