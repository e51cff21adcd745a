import type { StoredSource } from "@/lib/keys/api-key";
import { type SpanNames, shortId, type TreeSpan } from "@/lib/ledger/telemetry/span-tree";
import type { Attribution } from "@/lib/sources/emitters/emitter";
import type { Entry } from "@/lib/sources/otlp/entry";
import { cutText } from "./first-of";
import { ownNames } from "./outer-spans";
import type { SourceRecord } from "./source-record";
import { chosenTags, maxFeatureLength, nameIn, toSlug } from "./source-settings";

/**
 * The place of a span in its trace, and the names that it has for the calls inside it, by its emitter's attributes and the settings of
 * its source; undefined for a record that is not a span.
 * @param record the call that the span reports, if any
 */
export function placeOf(
  entry: Entry,
  attribution: Attribution,
  settings: StoredSource | null,
  record?: SourceRecord,
): TreeSpan | undefined {
  const { signal, span } = entry;
  if (signal !== "traces" || !span) return undefined;
  return {
    trace: shortId(span.trace),
    span: shortId(span.id),
    parent: span.parent === undefined ? null : shortId(span.parent),
    names: namesOf(entry, attribution, settings, record),
  };
}

function namesOf(
  entry: Entry,
  attribution: Attribution,
  settings: StoredSource | null,
  record: SourceRecord | undefined,
): SpanNames | null {
  const {
    user,
    session,
    feature,
    project,
    tags = {},
    offered = entry.offered,
  } = ownNames(entry, attribution) ?? {};
  const {
    feature_attribute: featureName,
    project_attribute: projectName,
    tags: chosen = [],
  } = settings ?? {};
  const cut = (text: string | undefined) =>
    text === undefined ? undefined : cutText(text, maxFeatureLength);
  // For a call, names from its resource by the settings have precedence over names of spans around it by the emitter's rules.
  const ofResource = record ? entry.resourceOffered : new Map();
  const names: SpanNames = {
    user,
    session,
    feature: cut(nameIn(ofResource, featureName) ?? feature),
    project: toSlug(nameIn(ofResource, projectName)) ?? toSlug(project),
    chosenFeature: cut(nameIn(offered, featureName)),
    chosenProject: toSlug(nameIn(offered, projectName)),
    tags: chosen.length > 0 ? chosenTags(chosen, offered) : tags,
  };
  if (Object.keys(names.tags ?? {}).length === 0) names.tags = undefined;
  return Object.values(names).some((name) => name !== undefined) ? names : null;
}
