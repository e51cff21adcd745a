import { ServiceError } from "@/lib/errors";
import { decode, decodeUpTo, readEncoding, tooLarge } from "./content-encoding";
import { needsExactParser, parseJson } from "./json";
import { countParts, defaultJsonBudget, type JsonBudget } from "./json-work";
import { largeBytes } from "./turns";

/** The most bytes of a request body, unless its route declares another limit: 1 MiB. */
export const defaultBodyLimit = 1024 * 1024;

/**
 * The most that is read and parsed before the caller's credentials are looked up. It suffices for a usual message, and any
 * content of this size is parsed and validated in about a millisecond. Parts are limited, too, because a long list of invalid
 * items takes longest to validate.
 */
const unverified = { bytes: 2 * 1024, parts: 64 };

/**
 * The sender of a body: an admitted caller (`known`), a caller of a public endpoint (`anybody`), or a caller whose credentials
 * `require` looks up, and who waits for a turn (`takeTurn`) before a large body is decoded.
 */
export type Sender = "known" | "anybody" | { require: () => Promise<void>; takeTurn?: () => Promise<void> };

/**
 * Reads a JSON body of at most `limit` bytes. Numbers keep every digit, except for the sender `anybody`, because that needs a
 * slower parser. `from.require` is called before expensive work: a long or compressed body, many commas, or numbers
 * that need the slower parser. A body beyond `budget` is refused before it is parsed.
 * @throws ServiceError unsupported_media_type, payload_too_large, validation_failed, invalid_json; the errors of `require`
 */
export async function readJsonBody(
  request: Request,
  limit: number,
  from: Sender = "known",
  budget: JsonBudget = defaultJsonBudget,
): Promise<unknown> {
  const sender = typeof from === "object" ? from : undefined;
  const isExpensive = !isShort(request);
  if (isExpensive) await sender?.require();
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== undefined && type !== "application/json" && !type.endsWith("+json")) {
    throw new ServiceError(
      "unsupported_media_type",
      "Send the body as JSON, with Content-Type: application/json.",
    );
  }
  const text = await readText(request, limit, sender?.takeTurn);
  const parts = countParts(text, budget);
  const exactly = from !== "anybody" && needsExactParser(text);
  if (!isExpensive && (exactly || parts > unverified.parts)) await sender?.require();
  try {
    return exactly ? parseJson(text) : JSON.parse(text);
  } catch {
    const what = text.trim() === "" ? "The body is empty" : "The body is not valid JSON";
    throw new ServiceError("invalid_json", `${what}. Send one JSON document.`);
  }
}

/**
 * Reads the fields of a form of at most `limit` bytes.
 * @throws ServiceError unsupported_media_type, validation_failed or payload_too_large
 */
export async function readFormBody(request: Request, limit: number): Promise<URLSearchParams> {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new ServiceError(
      "unsupported_media_type",
      "Send the body as a form, with Content-Type: application/x-www-form-urlencoded.",
    );
  }
  return new URLSearchParams(await readText(request, limit));
}

/**
 * A copy of the request with its body decoded and without Content-Encoding, for code that reads bodies itself.
 * @throws ServiceError unsupported_media_type, payload_too_large or validation_failed
 */
export async function withDecodedBody(request: Request, limit: number): Promise<Request> {
  if (readEncoding(request) === undefined) return request;
  const headers = new Headers(request.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Request(request.url, { method: request.method, headers, body: await readText(request, limit) });
}

/** Whether a body is short: it declares a short length and is not compressed. */
function isShort({ headers }: Request): boolean {
  const declared = headers.get("content-length");
  return declared !== null && Number(declared) <= unverified.bytes && !headers.has("content-encoding");
}

/** Up to this many times its limit, an oversized body is read and discarded, so that the sender receives the answer. */
const discardFactor = 16;

/**
 * The bytes of a body of at most `limit` bytes, without its Content-Encoding.
 * @param takeTurn is awaited before a large body is inflated or returned
 * @throws ServiceError unsupported_media_type, payload_too_large or validation_failed
 */
export async function readDecodedBytes(
  request: Request,
  limit: number,
  takeTurn?: () => Promise<void>,
): Promise<Uint8Array> {
  const encoding = readEncoding(request);
  const bytes = await readBytes(request, limit);
  if (encoding === undefined) {
    if (bytes.byteLength > largeBytes) await takeTurn?.();
    return bytes;
  }
  if (!takeTurn || limit <= largeBytes) return decode(bytes, encoding, limit);
  // A large body is not inflated while it waits.
  const short = await decodeUpTo(bytes, encoding, largeBytes);
  if (short) return short;
  await takeTurn();
  return decode(bytes, encoding, limit);
}

async function readText(request: Request, limit: number, takeTurn?: () => Promise<void>): Promise<string> {
  const encoding = readEncoding(request);
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  // The HTTP parser enforces a declared length, so the body can be read at once.
  if (encoding === undefined && declared <= Math.min(limit, largeBytes)) return request.text();
  return new TextDecoder().decode(await readDecodedBytes(request, limit, takeTurn));
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  // The HTTP parser enforces a declared length, so the body can be read at once, without a stream.
  if (length !== null && Number(length) <= limit) return new Uint8Array(await request.arrayBuffer());
  const declared = Number(length);
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (declared <= limit * discardFactor) {
    // Does not cancel the stream: that would close the connection before the answer.
    for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
      size += chunk.byteLength;
      if (size <= limit) chunks.push(chunk);
      else if (size > limit * discardFactor) break;
    }
  }
  if (declared <= limit && size <= limit) return Buffer.concat(chunks);
  // Closes the connection, because the next request would begin with the unread bytes.
  throw tooLarge(limit, { Connection: "close" });
}
