import { promisify } from "node:util";
import { gunzip, inflate, inflateRaw } from "node:zlib";
import { ServiceError, validationFailed } from "@/lib/errors";

/** How a request body may be compressed (RFC 9110 section 8.4.1), and what undoes it. */
const decoders = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: (bytes: Uint8Array, options: { maxOutputLength: number }) =>
    (isZlib(bytes) ? promisify(inflate) : promisify(inflateRaw))(bytes, options),
};

type Encoding = keyof typeof decoders;

/**
 * The Content-Encoding of a request; undefined where its body is sent as it is.
 * @throws ServiceError unsupported_media_type for one that is not taken, several in a row included
 */
export function readEncoding(request: Pick<Request, "headers">): Encoding | undefined {
  const named = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (!named || named === "identity") return undefined;
  if (Object.hasOwn(decoders, named)) return named as Encoding;
  throw new ServiceError(
    "unsupported_media_type",
    "Send the body as it is, or with Content-Encoding gzip or deflate.",
    {},
    { "Accept-Encoding": "gzip, deflate" },
  );
}

/**
 * Undoes a Content-Encoding. Stops at `limit` bytes: what a few kilobytes inflate to may fill any memory.
 * @throws ServiceError payload_too_large, or validation_failed where the bytes are not what the header says
 */
export async function decode(bytes: Uint8Array, encoding: Encoding, limit: number): Promise<Uint8Array> {
  try {
    return await decoders[encoding](bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limit);
    throw validationFailed([{ path: "Content-Encoding", message: `the body is not valid ${encoding}` }]);
  }
}

/** The refusal of a body that is too large, as it was sent or inflated. */
export function tooLarge(limit: number, headers: Record<string, string> = {}): ServiceError {
  const description = `The body may have at most ${limit} bytes, after any Content-Encoding is undone.`;
  return new ServiceError("payload_too_large", description, { limit_bytes: limit }, headers);
}

/** `deflate` means the zlib format; some clients send the bare stream, and servers take both. */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
