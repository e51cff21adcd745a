import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { parseAccept } from "hono/utils/accept";
import { pagePolicy } from "@/lib/http/security-headers";

/** The types of the files that `app/docs/build.ts` writes. Fonts are compressed already. */
const kinds: Record<string, { type: string; isText: boolean }> = {
  ".html": { type: "text/html; charset=utf-8", isText: true },
  ".css": { type: "text/css; charset=utf-8", isText: true },
  ".js": { type: "text/javascript; charset=utf-8", isText: true },
  ".json": { type: "application/json; charset=utf-8", isText: true },
  ".woff2": { type: "font/woff2", isText: false },
};

/** One encoding of a file: its bytes, and the headers of a 200 (`headers`) and of a 304 (`kept`). */
type Variant = { etag: string; body: Buffer; headers: Record<string, string>; kept: Record<string, string> };

/** `compress` is missing where compressing saves nothing. It compresses at its first call. */
type File = { plain: Variant; compress?: () => Variant };

/**
 * Serves the API reference from memory. Its files are read once, when the server starts, and compressed once, each when it is
 * first asked for. A request is looked up by its exact path, so no path can reach another file.
 */
export class Reference {
  readonly #files: ReadonlyMap<string, File>;

  private constructor(files: ReadonlyMap<string, File>) {
    this.#files = files;
  }

  /** Reads the files that `npm run build` wrote. @param directory `public/docs`; if it is missing, nothing is served */
  static async read(directory: string): Promise<Reference> {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = new Map<string, File>();
    await Promise.all(
      entries.map(async (entry) => {
        const kind = kinds[extname(entry.name)];
        if (!entry.isFile() || !kind) return;
        const path = join(entry.parentPath, entry.name);
        const name = relative(directory, path).split(sep).join("/");
        const file = await readOne(path, `/docs/${name}`, kind);
        for (const address of addressesOf(name)) files.set(address, file);
      }),
    );
    return new Reference(files);
  }

  /**
   * Answers a request for a file of the reference.
   * @returns false, without a response, for other paths and for methods other than GET and HEAD
   */
  answer({ method, url = "", headers }: IncomingMessage, outgoing: ServerResponse): boolean {
    if (method !== "GET" && method !== "HEAD") return false;
    const file = this.#files.get(url.split(/[?#]/, 1)[0] ?? "");
    if (!file) return false;
    const variant = takesGzip(headers["accept-encoding"] ?? "")
      ? (file.compress?.() ?? file.plain)
      : file.plain;
    if (isKept(headers["if-none-match"], variant.etag)) outgoing.writeHead(304, variant.kept).end();
    else outgoing.writeHead(200, variant.headers).end(method === "HEAD" ? undefined : variant.body);
    return true;
  }
}

/** The paths of a file: its own, and for a page also those of the rewrites in `next.config.ts`. */
function addressesOf(name: string): string[] {
  const page = /^([a-z-]+)\.html$/.exec(name)?.[1];
  if (page === undefined) return [`/docs/${name}`];
  return [`/docs/${name}`, `/docs/${page}`, ...(page === "index" ? ["/docs"] : [])];
}

async function readOne(path: string, address: string, { type, isText }: { type: string; isText: boolean }) {
  const body = await readFile(path);
  const digest = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  const always = {
    // The names of assets change with their content.
    "Cache-Control": address.startsWith("/docs/assets/")
      ? "public, max-age=31536000, immutable"
      : "public, max-age=0",
    ...(isText && { Vary: "Accept-Encoding" }),
    ...(type.startsWith("text/html") && { "Content-Security-Policy": pagePolicy(address, {}) }),
  };
  const vary = (etag: string, bytes: Buffer, encoding: Record<string, string>): Variant => {
    const kept = { ...always, ETag: etag };
    const size = { "Content-Type": type, "Content-Length": String(bytes.length) };
    return { etag, body: bytes, headers: { ...kept, ...size, ...encoding }, kept };
  };
  const plain = vary(`"${digest}"`, body, {});
  if (!isText) return { plain };
  let compressed: Variant | undefined;
  return {
    plain,
    compress: () => {
      compressed ??= vary(`"${digest}-gzip"`, gzipSync(body), { "Content-Encoding": "gzip" });
      return compressed;
    },
  };
}

/** Whether to compress a response with gzip by the client's Accept-Encoding (RFC 9110 section 12.5.3). */
function takesGzip(acceptEncoding: string): boolean {
  const accepted = parseAccept(acceptEncoding);
  const weightOf = (...names: string[]) => accepted.find(({ type }) => names.includes(type.toLowerCase()))?.q;
  const gzipped = weightOf("gzip", "x-gzip") ?? weightOf("*") ?? 0;
  return gzipped > 0 && gzipped >= (weightOf("identity") ?? 0);
}

/** Whether the client has this variant already (RFC 9110 section 13.1.2: weak comparison). */
function isKept(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")));
}
