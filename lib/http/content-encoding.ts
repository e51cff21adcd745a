import { promisify } from "node:util";
import { gunzip, inflate, inflateRaw } from "node:zlib";
import { ServiceError, validationFailed } from "@/lib/errors";

/** The supported compressions of a request body (RFC 9110 section 8.4.1) and their decoders. */
const decoders = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: (bytes: Uint8Array, options: { maxOutputLength: number }) =>
    (isZlib(bytes) ? promisify(inflate) : promisify(inflateRaw))(bytes, options),
};

type Encoding = keyof typeof decoders;

/**
 * The Content-Encoding of a request; undefined for an uncompressed body.
 * @throws ServiceError unsupported_media_type for any other encoding, and for several encodings at once
 */
export function readEncoding(request: Pick<Request, "headers">): Encoding | undefined {
  const named = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (!named || named === "identity") return undefined;
  if (Object.hasOwn(decoders, named)) return named as Encoding;
  throw new ServiceError(
    "unsupported_media_type",
    "Send the body uncompressed, or with Content-Encoding gzip or deflate.",
    {},
    { "Accept-Encoding": "gzip, deflate" },
  );
}

/**
 * Decodes a Content-Encoding. Stops at `limit` bytes, because a few kilobytes can inflate to gigabytes.
 * @throws ServiceError payload_too_large, or validation_failed if the bytes do not match the header
 */
export async function decode(bytes: Uint8Array, encoding: Encoding, limit: number): Promise<Uint8Array> {
  const decoded = await decodeUpTo(bytes, encoding, limit);
  if (!decoded) throw tooLarge(limit);
  return decoded;
}

/** Like `decode`, but returns undefined instead of an error for more than `limit` bytes. */
export async function decodeUpTo(
  bytes: Uint8Array,
  encoding: Encoding,
  limit: number,
): Promise<Uint8Array | undefined> {
  try {
    return await decoders[encoding](bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw validationFailed([{ path: "Content-Encoding", message: `the body is not valid ${encoding}` }]);
  }
}

/** The 413 for a body that is too large, before or after decoding. */
export function tooLarge(limit: number, headers: Record<string, string> = {}): ServiceError {
  const description = `The body may have at most ${limit} bytes after decompression.`;
  return new ServiceError("payload_too_large", description, { limit_bytes: limit }, headers);
}

/** `deflate` means the zlib format (RFC 9110 section 8.4.1.2), but some clients send a raw stream. */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
