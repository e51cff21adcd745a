import { createHash } from "node:crypto";
import { add, compare, isZero, parseDecimal, zero } from "@/lib/decimal";
import { isProviderKey } from "@/lib/ledger/ingest/call";
import { type CallReport, costRank, kindRank } from "@/lib/ledger/telemetry/same-call";
import { shortId } from "@/lib/ledger/telemetry/span-tree";
import type { Entry } from "@/lib/sources/otlp/entry";
import type { SourceRecord } from "./source-record";
import { allInput } from "./tokens";

const one = parseDecimal("1");

/**
 * The report of a span, by which it is compared with reports that share no id with it (`same-call.ts`); undefined for a record that is
 * not a span with a start and an end.
 */
export function callReportOf(
  { signal, span, timeNs, scope }: Entry,
  record: SourceRecord,
): CallReport | undefined {
  if (signal !== "traces" || !span || span.startNs === 0n || timeNs < span.startNs) return undefined;
  const { tokens, model = "", emitter, keys } = record;
  const { cacheRead = zero, cacheWrite = zero, output = zero } = tokens;
  const cached = add(cacheRead, cacheWrite);
  // For an aborted stream, some emitters report the one token that its first event names, and others none.
  const hasOutput = compare(output, one) > 0;
  return {
    likeness: knownHash(`${canonicalModel(model)} ${allInput(tokens)} ${hasOutput ? output : ""}`),
    scope: knownHash(`${emitter} ${scope}`),
    trace: shortId(span.trace),
    started_us: Number(span.startNs / 1000n),
    ended_us: Number(timeNs / 1000n),
    ids: idsOf(keys.own),
    cache: isZero(cached) ? 0 : knownHash(`${cacheRead} ${cacheWrite}`),
    rank: rankOf(record),
    emitter,
  };
}

/** How detailed a record is: a billed cost counts most, then each kind of tokens, then each name. */
export function rankOf(record: SourceRecord): number {
  const { tokens, user, session, feature, project, tags, givenCostUsd, isCostTrusted } = record;
  const cost = isCostTrusted && givenCostUsd ? costRank : 0;
  const names = [user, session, feature, project].filter((name) => name !== undefined).length;
  return cost + Object.keys(tokens).length * kindRank + names + Number(Object.keys(tags).length > 0);
}

function idsOf(keys: readonly string[]): number {
  return keys
    .filter(isProviderKey)
    .reduce((bits, key) => bits | (key.startsWith("otel:response:") ? 1 : 2), 0);
}

/**
 * A model's name without the parts that only some programs add: its provider, a date, a revision, `latest`. Used to compare records, not
 * to find prices.
 */
export function canonicalModel(model: string): string {
  const found = canonical.get(model);
  if (found !== undefined) return found;
  if (canonical.size >= maxKnown) canonical.clear();
  const made = model
    .toLowerCase()
    .slice(model.lastIndexOf("/") + 1)
    .replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|meta|amazon|mistral|cohere|deepseek|qwen|openai)\./, "")
    .replace(/(?:[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest|v\d+(?::\d+)?)|:\d+)+$/, "")
    .replaceAll(".", "-");
  canonical.set(model, made);
  return made;
}

const known = new Map<string, number>();
const canonical = new Map<string, string>();
const maxKnown = 10_000;

/** 48 bits of a hash, as a number above 0. Cached, because many records share the hashed texts. */
function knownHash(text: string): number {
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= maxKnown) known.clear();
  const made = createHash("sha256").update(text).digest().readUIntBE(0, 6) || 1;
  known.set(text, made);
  return made;
}
