import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** One encoding of a file: its bytes, and the headers of a 200 (`headers`) and of a 304 (`kept`). */
type Variant = { etag: string; body: Buffer; headers: Record<string, string>; kept: Record<string, string> };

/** An answer with a file. `body` is missing if the client has it already. */
type FileAnswer = { status: 200 | 304; headers: Record<string, string>; body?: Buffer };

/**
 * A text file that is served from memory. It has an ETag for each encoding and is compressed once, at the first request.
 */
export class PreparedFile {
  readonly #plain: Variant;
  #compressed: Variant | undefined;

  /** @param file.headers further headers of every answer with this file */
  constructor(private readonly file: { body: Buffer; type: string; headers: Record<string, string> }) {
    this.#plain = this.#vary("", file.body, {});
  }

  /** The answer to a GET. @param asked the request's headers Accept-Encoding and If-None-Match */
  answer(asked: { acceptEncoding?: string | null; ifNoneMatch?: string | null }): FileAnswer {
    const { etag, body, headers, kept } = takesGzip(asked.acceptEncoding ?? "")
      ? this.#compress()
      : this.#plain;
    return isKept(asked.ifNoneMatch, etag) ? { status: 304, headers: kept } : { status: 200, headers, body };
  }

  #compress(): Variant {
    this.#compressed ??= this.#vary("-gzip", gzipSync(this.file.body), { "Content-Encoding": "gzip" });
    return this.#compressed;
  }

  #vary(suffix: string, body: Buffer, encoding: Record<string, string>): Variant {
    const digest = createHash("sha256").update(this.file.body).digest("base64url").slice(0, 22);
    const etag = `"${digest}${suffix}"`;
    const kept = {
      ...this.file.headers,
      Vary: "Accept-Encoding",
      ETag: etag,
    };
    const size = { "Content-Type": this.file.type, "Content-Length": String(body.length) };
    return { etag, body, headers: { ...kept, ...size, ...encoding }, kept };
  }
}

/** Whether to compress a response with gzip by the client's Accept-Encoding (RFC 9110 section 12.5.3). */
function takesGzip(acceptEncoding: string): boolean {
  const weights = new Map(
    acceptEncoding.split(",").map((each) => {
      const [name = "", ...parameters] = each.toLowerCase().split(";");
      const weight = parameters.find((parameter) => parameter.trim().startsWith("q="));
      return [name.trim(), weight ? Number(weight.trim().slice(2)) : 1];
    }),
  );
  const gzipped = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzipped > 0 && gzipped >= (weights.get("identity") ?? 0);
}

/** Whether the client has this variant already (RFC 9110 section 13.1.2: weak comparison). */
function isKept(ifNoneMatch: string | null | undefined, etag: string): boolean {
  if (!ifNoneMatch) return false;
  return ifNoneMatch.split(",").some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")));
}
