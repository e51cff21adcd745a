import { looksLikeSecret, tagValue } from "@/lib/contract/ledger/attribution";
import { offeredAttributes } from "@/lib/contract/sources/source-programs";
import { mayHoldContent } from "@/lib/contract/sources/sources";
import type { ApiKey, StoredSource } from "@/lib/keys/api-key";
import type { Attributes } from "@/lib/sources/otlp/entry";
import { cutText, firstText } from "./first-of";
import type { SourceRecord } from "./source-record";

/*
 * What the settings of a source (an API key) make of a record. They are applied when a record is recorded, not when it is
 * read, so that a refused record that is sent again is recorded by the settings of then.
 */

const always = new Set<string>(Object.values(offeredAttributes).flat());

/** A longer text is no name. It is left out rather than cut, because a cut one would name something else. */
const maxNameLength = 200;

/** The attributes that a source's settings may use: those that the settings offer, and those that these settings name. */
export function offeredNames(settings: StoredSource | null): ReadonlySet<string> {
  const named = namedAttributes(settings).filter((name) => !always.has(name));
  return named.length === 0 ? always : new Set([...always, ...named]);
}

/** The attributes that the settings name. One that may hold a prompt or a secret is left out, whoever wrote it there. */
export function namedAttributes(settings: StoredSource | null): string[] {
  const { project_attribute: project, feature_attribute: feature, tags = [] } = settings ?? {};
  return [project, feature, ...tags.map(({ attribute }) => attribute)].filter(
    (name) => name !== undefined && !mayHoldContent(name),
  ) as string[];
}

/** Whether a source's own figure of a cost is recorded. @param isTrusted whether that of its emitter is, without a setting */
export function trustsCost(settings: StoredSource | null, isTrusted: boolean): boolean {
  return settings?.trusted_cost ?? isTrusted;
}

/** Whether a subscription covers a record: it is recorded as included. */
export function isCovered(record: SourceRecord, { source }: Pick<ApiKey, "source">): boolean {
  return source?.subscription_covered ?? record.isIncluded;
}

/** The feature of a record: as the settings say, else as the emitter says. Undefined for none. */
export function featureOf(record: SourceRecord, { source }: Pick<ApiKey, "source">): string | undefined {
  const chosen = nameIn(record.offered, source?.feature_attribute);
  const feature = chosen ?? record.feature ?? source?.default_feature;
  return feature === undefined ? undefined : cutText(feature, maxFeatureLength);
}

/** A longer feature is cut. */
export const maxFeatureLength = 128;

/** The tags of a record: those of the settings, or where they name none, those that its emitter is known to have. */
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

/** Names that a service has where nobody named it (OpenTelemetry, resource conventions). */
const unnamedService = /^unknown_service/;

/**
 * The project that a record counts for: the one that the attribute of the settings names, else the one that it names by its
 * emitter's rules, else the default of the settings, the key's own if it has exactly one, its service. Whether the key may use
 * it is the guard's decision.
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

/** The name that an attribute of the settings has; undefined for none, and for what is no name. */
export function nameIn(offered: Attributes, attribute: string | undefined): string | undefined {
  if (attribute === undefined || mayHoldContent(attribute)) return undefined;
  const value = firstText([attribute], offered);
  return value === undefined || value.length > maxNameLength || looksLikeSecret(value) ? undefined : value;
}

/** `Checkout API` → `checkout-api`, `https://github.com/acme/shop.git` → `shop`; undefined where nothing is left. */
export function toSlug(name: string | undefined): string | undefined {
  const slug = nameOfRepository(name)
    ?.toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, 64);
  return slug || undefined;
}

/** The last part of a repository's address (`https://host/acme/shop.git`, `git@host:acme/shop.git`); other text as it is. */
function nameOfRepository(text: string | undefined): string | undefined {
  if (text === undefined || !/^(?:[a-z][a-z0-9+.-]{0,20}:\/\/|[\w.-]{1,64}@[\w.-]{1,200}:)/i.test(text))
    return text;
  const [path = ""] = text.split(/[?#]/, 1);
  const parts = path.split(/[/:]/).filter((part) => part !== "");
  return parts.at(-1)?.replace(/\.git$/i, "");
}
