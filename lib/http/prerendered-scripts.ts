import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Matches the inline scripts of a page. Scripts with a `src` are our own files and need no hash. */
const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The hashes of a page's inline scripts in the notation of a Content-Security-Policy (`sha256-…`). */
export function hashInlineScripts(html: string): string[] {
  const hashes = [...html.matchAll(inlineScript)].map(
    ([, script = ""]) => `sha256-${createHash("sha256").update(script).digest("base64")}`,
  );
  return [...new Set(hashes)];
}

/** The pages that a build of Next prerendered, by path. */
export class PrerenderedPages {
  readonly #directory: string;
  readonly #manifest: string;
  #paths: Set<string> | undefined;
  readonly #hashes = new Map<string, readonly string[]>();

  /** @param directory the output of Next's build (`.next`) */
  constructor(directory: string) {
    this.#directory = directory;
    this.#manifest = join(directory, "prerender-manifest.json");
  }

  /** Whether the build can be read. Otherwise the prerendered pages are unknown. */
  isReadable(): boolean {
    return existsSync(this.#manifest);
  }

  /** The hashes of a prerendered page's inline scripts; undefined for a page that is rendered at each request. */
  hashesOf(pathname: string): readonly string[] | undefined {
    return this.#readPaths().has(pathname) ? this.#hashesIn(pathname) : undefined;
  }

  /** The hashes of the pages that Next answers instead of others: those for "not found" and for errors. */
  fallbackHashes(): readonly string[] {
    return [...this.#readPaths()]
      .filter((path) => path.startsWith("/_"))
      .flatMap((path) => this.#hashesIn(path));
  }

  #readPaths(): Set<string> {
    if (this.#paths) return this.#paths;
    const routes = this.isReadable() ? JSON.parse(readFileSync(this.#manifest, "utf8")).routes : {};
    // Files such as an icon are prerendered too, but are not pages.
    this.#paths = new Set(Object.keys(routes).filter((path) => existsSync(this.#fileOf(path))));
    return this.#paths;
  }

  #hashesIn(path: string): readonly string[] {
    const known = this.#hashes.get(path);
    if (known) return known;
    const hashes = hashInlineScripts(readFileSync(this.#fileOf(path), "utf8"));
    this.#hashes.set(path, hashes);
    return hashes;
  }

  #fileOf(path: string): string {
    return join(this.#directory, "server/app", `${path === "/" ? "/index" : path}.html`);
  }
}
