import { z } from "zod";
import { session, tags, user } from "@/lib/contract/ledger/attribution";
import { text } from "@/lib/contract/values/fields";
import { parsePart } from "@/lib/contract/values/parse-part";
import { validationFailed } from "@/lib/errors";

/*
 * The fields that clients send in the `_meta` of a call. Their keys have a prefix, as MCP requires for keys that it does not define
 * (Model Context Protocol 2025-11-25, "General fields"). `idempotency_key` is older than this rule.
 */

/** The person that a call records for. A host adds it to calls; models do not see it. */
export type Attribution = z.output<typeof attribution>;

const attribution = z.object({ user: user.optional(), session: session.optional(), tags });
const prefix = "outlay/";

/** The keys of `_meta` that are read here. */
export const metaKeys = ["idempotency_key", ...Object.keys(attribution.shape).map((name) => prefix + name)];

const explicitKey = text(255).optional();

type Meta = Record<string, unknown> | undefined;

/** The idempotency key that a client sent: the same as a message's `idempotency_key` over REST. */
export function readExplicitKey(meta: Meta): string | undefined {
  if (meta?.idempotency_key === undefined) return undefined;
  const read = parsePart(explicitKey, meta.idempotency_key, "_meta.idempotency_key");
  if (!read.ok) throw validationFailed(read.issues);
  return read.value;
}

/** @throws ServiceError validation_failed, naming the key of `_meta` */
export function readAttribution(meta: Meta): Attribution {
  const names = Object.keys(attribution.shape).filter((name) => meta?.[prefix + name] !== undefined);
  if (names.length === 0) return {};
  const given = Object.fromEntries(names.map((name) => [name, meta?.[prefix + name]]));
  const read = parsePart(attribution, given);
  if (!read.ok) {
    throw validationFailed(
      read.issues.map(({ path, message }) => ({ path: `_meta.${prefix}${path}`, message })),
    );
  }
  return read.value;
}
