import { isDeepStrictEqual } from "node:util";
import { idempotencyKey } from "@/lib/contract/ledger/message";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError, type Verdict, validationFailed } from "@/lib/errors";
import { type Around, type CallKeys, marksAround, type Submission } from "./call";

/**
 * Adds the key of the `Idempotency-Key` header to a body.
 * @returns the body unchanged if `header` is null; a `validation_failed` if the header is not a valid key or differs from the body's
 */
export function withIdempotencyHeader<Body extends { idempotency_key?: string | undefined }>(
  body: Body,
  header: string | null,
): Verdict<Body> {
  if (header === null) return body;
  const key = parsePart(idempotencyKey, header);
  if (!key.ok)
    return validationFailed(key.issues.map(({ message }) => ({ path: "Idempotency-Key", message })));
  if (body.idempotency_key !== undefined && body.idempotency_key !== key.value)
    return validationFailed([
      { path: "idempotency_key", message: "differs from the Idempotency-Key header; send one of them" },
    ]);
  return { ...body, idempotency_key: key.value };
}

/** A stored request. It is looked up by its key and its `environment`. */
export type RememberedRequest = Record<string, unknown> & { environment: "live" | "test" };

/** A request as it is stored under its idempotency key: its content, without the key itself. */
export function rememberedRequest(
  request: Submission,
  environment: RememberedRequest["environment"],
): RememberedRequest {
  const { idempotency_key: _, callKeys: __, emitter: ___, ...meaning } = request;
  // Through JSON, as the database stores it: undefined becomes absent.
  return JSON.parse(JSON.stringify({ ...meaning, environment }));
}

/**
 * The idempotency keys that must be loaded to decide a message.
 * @param seen see `marksAround`
 */
export function keysOf({ idempotency_key: key, callKeys }: Submission, seen: Set<Around>): string[] {
  const keys = key === undefined ? [] : [key];
  if (callKeys) keys.push(...namesOf(callKeys), ...marksAround(callKeys.within, seen));
  return keys;
}

/** The keys of a report. If one of them is stored, the report was recorded before. */
export function namesOf({ own, outer, inner, sumOf = [] }: CallKeys): string[] {
  return [...own, ...outer, ...inner, ...sumOf];
}

/** The 409 of a key used for a different message, naming the fields that differ; undefined for the same message. */
export function idempotencyConflict(key: string, earlier: unknown, now: unknown): ServiceError | undefined {
  const fields = differingPaths(earlier, now);
  if (fields.length === 0) return undefined;
  return new ServiceError(
    "idempotency_conflict",
    `The idempotency key ${JSON.stringify(key)} was used for a different message (${fields.join(", ")}). Use a new key for a new message.`,
    { differing_fields: fields },
  );
}

function differingPaths(a: unknown, b: unknown, path = ""): string[] {
  if (isDeepStrictEqual(a, b) || isErased(a, path)) return [];
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.some((item, index) => differingPaths(item, b[index], `${path}.${index}`).length > 0)
      ? [path]
      : [];
  }
  if (!isObject(a) || !isObject(b)) return [path];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names]
    .sort()
    .flatMap((name) => differingPaths(a[name], b[name], path ? `${path}.${name}` : name));
}

/** Whether an erasure replaced this field by null. A retry that still names the person is the same request. */
function isErased(earlier: unknown, path: string): boolean {
  return earlier === null && /^message\.(?:.+\.)?(?:user|label|notes|metadata|session|tags)$/.test(path);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
