import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { PreparedFile } from "@/lib/http/prepared-file";
import { pagePolicy } from "@/lib/http/security-headers";

/** The types of the files that `app/docs/build.ts` writes. Fonts are compressed already. */
const kinds: Record<string, { type: string; isText: boolean }> = {
  ".html": { type: "text/html; charset=utf-8", isText: true },
  ".css": { type: "text/css; charset=utf-8", isText: true },
  ".js": { type: "text/javascript; charset=utf-8", isText: true },
  ".json": { type: "application/json; charset=utf-8", isText: true },
  ".woff2": { type: "font/woff2", isText: false },
};

/**
 * Serves the API reference from memory. Its files are read once, when the server starts, and compressed once, each when it is
 * first asked for. A request is looked up by its exact path, so no path can reach another file.
 */
export class Reference {
  readonly #files: ReadonlyMap<string, PreparedFile>;

  private constructor(files: ReadonlyMap<string, PreparedFile>) {
    this.#files = files;
  }

  /** Reads the files that `npm run build` wrote. @param directory `public/docs`; if it is missing, nothing is served */
  static async read(directory: string): Promise<Reference> {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = new Map<string, PreparedFile>();
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
    const {
      status,
      headers: sent,
      body,
    } = file.answer({
      acceptEncoding: headers["accept-encoding"] ?? null,
      ifNoneMatch: headers["if-none-match"] ?? null,
    });
    outgoing.writeHead(status, sent).end(method === "HEAD" ? undefined : body);
    return true;
  }
}

/** The paths of a file: its own, and for a page also those of the rewrites in `next.config.ts`. */
function addressesOf(name: string): string[] {
  const page = /^([a-z-]+)\.html$/.exec(name)?.[1];
  if (page === undefined) return [`/docs/${name}`];
  return [`/docs/${name}`, `/docs/${page}`, ...(page === "index" ? ["/docs"] : [])];
}

async function readOne(
  path: string,
  address: string,
  kind: { type: string; isText: boolean },
): Promise<PreparedFile> {
  const headers = {
    // The names of assets change with their content.
    "Cache-Control": address.startsWith("/docs/assets/")
      ? "public, max-age=31536000, immutable"
      : "public, max-age=0",
    ...(kind.type.startsWith("text/html") && { "Content-Security-Policy": pagePolicy(address, {}) }),
  };
  return new PreparedFile({ body: await readFile(path), ...kind, headers });
}
