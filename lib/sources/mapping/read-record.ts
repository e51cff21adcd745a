import { findProvider } from "@pydantic/genai-prices";
import { add, type Decimal, isZero, parseDecimal, shiftDecimal, zero } from "@/lib/decimal";
import type { StoredSource } from "@/lib/keys/api-key";
import { matchModel } from "@/lib/ledger/pricing/catalogue-match";
import { providerId } from "@/lib/ledger/pricing/names/providers";
import { pricedTiers } from "@/lib/ledger/pricing/price-table";
import { unknownEmitter } from "@/lib/sources/emitters/conventions";
import type { Emitter, Rule, TokenKind } from "@/lib/sources/emitters/emitter";
import type { Attributes, Entry } from "@/lib/sources/otlp/entry";
import { callKeys, seriesKey } from "./call-keys";
import { firstOf, firstText } from "./first-of";
import { readAttribution } from "./read-attribution";
import { claimsOf } from "./signal-claims";
import type { SourceRecord, Tokens } from "./source-record";
import { trustsCost } from "./source-settings";
import { allInput, readCount, readCounts, readTokens, separate } from "./tokens";

/**
 * Reads a record by a rule of its emitter; undefined if it has no counts, such as a failed call or a point of 0.
 * @throws ServiceError validation_failed if a count of tokens is not a whole number
 */
export function readRecord(
  emitter: Emitter,
  rule: Rule,
  entry: Entry,
  settings: StoredSource | null = null,
): SourceRecord | undefined {
  const { own, resource, point } = entry;
  const tokens = point ? readPoint(rule, entry) : separate(readCounts(rule, own), rule);
  const givenCostUsd = readCost(rule, entry);
  const isCostTrusted = emitter.isCostTrusted === true || isGivenByProvider(rule, entry);
  // Images and searches are billed without tokens.
  if (Object.keys(tokens).length === 0 && !(trustsCost(settings, isCostTrusted) && givenCostUsd))
    return undefined;
  const { attribution } = rule;
  const model = firstText(rule.model, own, resource);
  const reported =
    typeof rule.provider === "string" ? rule.provider : firstText(rule.provider, own, resource);
  const provider = providerName(reported, model);
  const { user, session, tags, leftOut } = readAttribution(attribution, own, resource);
  return {
    emitter: emitter.name,
    isKnownEmitter: emitter !== unknownEmitter,
    service: String(resource.get("service.name") ?? ""),
    scope: entry.scope,
    occurredAt: timeOf(rule, entry),
    provider,
    model: modelName(model, provider),
    tokens,
    requestInput: point || rule.isSum ? undefined : allInput(tokens),
    tier: tierOf(rule, entry),
    givenCostUsd,
    isCostTrusted,
    isIncluded: false,
    user,
    session,
    tags,
    leftOut,
    project: firstText(attribution.project, own, resource),
    feature: firstText(attribution.feature, own, resource),
    offered: joined(entry.resourceOffered, entry.offered),
    keys: point
      ? {
          own: [seriesKey(point.series, String(point.startNs), String(entry.timeNs))],
          outer: [],
          inner: [],
          within: [],
        }
      : callKeys(entry, rule, emitter.name, tokens),
    series: point && {
      id: point.series,
      startNs: String(point.startNs),
      timeNs: String(entry.timeNs),
      isTotal: point.isTotal,
      value: parseDecimal(point.value),
    },
    claims: claimsOf(emitter, entry, rule),
  };
}

/** Merges attributes; the record's own have precedence. Makes no copy if one is empty, which is common. */
function joined(resource: Attributes, own: Attributes): Attributes {
  if (own.size === 0) return resource;
  return resource.size === 0 ? own : new Map([...resource, ...own]);
}

/** The count of a point, which is of one kind of tokens. */
function readPoint({ kind }: Rule, { own, point }: Entry): Tokens {
  const which: TokenKind | undefined =
    typeof kind === "object" ? kind.kinds[String(own.get(kind.attribute))] : kind;
  const count = readTokens(point?.value);
  return which && count ? { [which]: count } : {};
}

/** The cost that the emitter reported, in USD: from millionths, which are exact, otherwise from USD or its parts. */
function readCost({ cost }: Rule, { own }: Entry): Decimal | undefined {
  if ((firstText(cost?.currency, own) ?? "USD").toUpperCase() !== "USD") return undefined;
  const micros = readCount(firstOf(cost?.micros, own));
  if (micros) return shiftDecimal(micros, -6);
  const usd = readCount(firstOf(cost?.usd, own));
  if (usd) return usd;
  const parts = (cost?.parts ?? []).map((name) => readCount(own.get(name)) ?? zero);
  const total = parts.reduce(add, zero);
  return isZero(total) ? undefined : total;
}

function isGivenByProvider({ cost }: Rule, { own }: Entry): boolean {
  return firstText(cost?.givenBy, own) === "provider";
}

/** The tiers whose prices differ from the standard one. */
const tiers = new Map(pricedTiers.map((tier) => [tier as string, tier]));

function tierOf({ tier }: Rule, { own }: Entry): SourceRecord["tier"] {
  for (const name of tier ?? []) {
    const value = own.get(name);
    // A count of tokens has the tier as the last part of its name: `input_token_details.flex`.
    const reported = typeof value === "number" && value > 0 ? name.split(/[#.]/).at(-1) : value;
    const known = tiers.get(String(reported ?? "").toLowerCase());
    if (known) return known;
  }
  return undefined;
}

function timeOf({ time }: Rule, { own, timeNs }: Entry): string | undefined {
  const text = firstText(time, own);
  const reported = text === undefined ? Number.NaN : Date.parse(text);
  const ms = Number.isNaN(reported) ? Number(timeNs / 1_000_000n) : reported;
  return ms > 0 ? new Date(ms).toISOString() : undefined;
}

/**
 * The catalogue's name of a provider: `openai.responses` → `openai`, `gcp.gen_ai` → `google`. An unknown name is returned in lower case.
 * Without a name, the provider is found by the model; `unknown` if that fails.
 */
function providerName(reported: string | undefined, model: string | undefined): string {
  if (reported !== undefined && !routers.has(reported)) return providerId(reported) ?? reported.toLowerCase();
  return (model && (findProvider({ modelId: model })?.id ?? makerOf(model))) || "unknown";
}

/** Names of programs that pass calls on to several providers: Copilot, LangChain and Strands. */
const routers = new Set(["github", "langchain", "strands-agents"]);

/** Providers to try for models whose names do not show the provider, such as `text-embedding-3-small`. */
const makers = ["openai", "google", "mistral", "cohere"];

function makerOf(model: string): string | undefined {
  return makers.find((maker) => typeof matchModel(maker, model) === "object");
}

/** A model's name without a context size (`[1m]`) and without its provider's name as a prefix. */
function modelName(reported: string | undefined, provider: string): string | undefined {
  const name = reported?.replace(/\[[^\]]*\]$/, "");
  const isPrefixed = provider !== "openrouter" && name?.toLowerCase().startsWith(`${provider}/`);
  return (isPrefixed ? name?.slice(provider.length + 1) : name) || undefined;
}
