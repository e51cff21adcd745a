import { ServiceError } from "@/lib/errors";
import { parseJson } from "./json";

/** Bytes a request body may have unless its route says otherwise: 1 MiB. */
export const defaultBodyLimit = 1024 * 1024;

/**
 * Reads a JSON body of at most `limit` bytes.
 * @throws ServiceError unsupported_media_type, payload_too_large or invalid_json
 */
export async function readJsonBody(request: Request, limit: number): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== undefined && type !== "application/json" && !type.endsWith("+json")) {
    throw new ServiceError(
      "unsupported_media_type",
      "Send the body as JSON, with Content-Type: application/json.",
    );
  }
  const text = await readText(request, limit);
  try {
    return parseJson(text);
  } catch {
    const what = text.trim() === "" ? "The body is empty" : "The body is not valid JSON";
    throw new ServiceError("invalid_json", `${what}. Send one JSON document.`);
  }
}

/**
 * Reads the fields of a form of at most `limit` bytes.
 * @throws ServiceError unsupported_media_type or payload_too_large
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

/** How many times its limit an oversized body is read and thrown away, so that the sender gets to hear the answer. */
const patience = 16;

async function readText(request: Request, limit: number): Promise<string> {
  const declared = request.headers.get("content-length");
  // A declared length is one the HTTP parser holds the sender to: the body can be read in one go.
  if (declared !== null && Number(declared) <= limit) return request.text();
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (Number(declared) <= limit * patience) {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size <= limit) chunks.push(chunk);
      else if (size > limit * patience) break;
    }
  }
  if (declared === null && size <= limit) return Buffer.concat(chunks).toString("utf8");
  throw new ServiceError(
    "payload_too_large",
    `The body may have at most ${limit} bytes.`,
    { limit_bytes: limit },
    // What was not read would be taken for the next request.
    { Connection: "close" },
  );
}
