import { zero } from "@/lib/decimal";
import type { StoredSource } from "@/lib/keys/api-key";
import { namesInRule } from "@/lib/sources/emitters/allow-list";
import { readRecord } from "@/lib/sources/mapping/read-record";
import { findRule } from "@/lib/sources/mapping/recognise";
import type { SourceRecord } from "@/lib/sources/mapping/source-record";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import type { Entry, Scalar } from "@/lib/sources/otlp/entry";
import type { Gateway, Item } from "./gateway";

/** Longer texts are cut: they are not names, ids or counts. */
const maxTextLength = 500;

/** Reads an item; undefined if it reports no usage, such as a failed call. Pure. */
export function readItem(
  gateway: Gateway,
  reported: Item,
  settings: StoredSource | null = null,
): SourceRecord | undefined {
  const { emitter, unfold, cost } = gateway;
  const item = unfold ? unfold(reported) : reported;
  const entry = toEntry(gateway, item, settings);
  const rule = findRule(emitter, entry);
  const record = rule && readRecord(emitter, rule, entry, settings);
  if (!record) return undefined;
  const figure = cost?.(item) ?? "as reported";
  if (figure === "as reported") return record;
  return { ...record, givenCostUsd: figure === "free" ? zero : undefined };
}

/** Converts an item to a log record with the values that the gateway's rules name. */
function toEntry(
  { emitter, endedAt, service, attribute }: Gateway,
  item: Item,
  settings: StoredSource | null,
): Entry {
  const own = new Map<string, Scalar>();
  for (const name of emitter.rules.flatMap(namesInRule)) {
    const value = valueAt(item, name);
    if (value !== undefined) own.set(name, value);
  }
  const offered = new Map<string, Scalar>();
  for (const name of offeredNames(settings)) {
    const values = (attribute?.(name) ?? [name]).map((path) => valueAt(item, path));
    const value = values.find((one) => one !== undefined);
    if (value !== undefined) offered.set(name, value);
  }
  const seconds = endedAt?.(item);
  const sender = service?.(item);
  return {
    signal: "logs",
    name: "",
    scope: "",
    resource: new Map(sender === undefined ? [] : [["service.name", sender.slice(0, maxTextLength)]]),
    own,
    offered,
    resourceOffered: new Map(),
    timeNs: seconds === undefined ? 0n : BigInt(Math.round(seconds * 1000)) * 1_000_000n,
    span: undefined,
    point: undefined,
  };
}

function valueAt(item: Item, path: string): Scalar | undefined {
  let value: unknown = item;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Item)[name];
  }
  if (typeof value === "string") return value.slice(0, maxTextLength);
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}
