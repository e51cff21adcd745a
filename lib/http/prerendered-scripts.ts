import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The inline scripts of a page; those with a `src` are files of ours and need no hash. */
const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The hashes of a page's inline scripts, as a Content-Security-Policy has them (`sha256-…`). */
export function hashInlineScripts(html: string): string[] {
  const hashes = [...html.matchAll(inlineScript)].map(
    ([, script = ""]) => `sha256-${createHash("sha256").update(script).digest("base64")}`,
  );
  return [...new Set(hashes)];
}

/** The pages that a build of Next rendered once for all, by the address they answer. */
export class PrerenderedPages {
  readonly #directory: string;
  readonly #manifest: string;
  #paths: Set<string> | undefined;
  readonly #hashes = new Map<string, readonly string[]>();

  /** @param directory what Next's build wrote (`.next`) */
  constructor(directory: string) {
    this.#directory = directory;
    this.#manifest = join(directory, "prerender-manifest.json");
  }

  /** Whether the build is at hand; where it is not, nobody can say which pages were prerendered. */
  isReadable(): boolean {
    return existsSync(this.#manifest);
  }

  /** The hashes of a prerendered page's inline scripts; undefined where the page is rendered for each request. */
  hashesOf(pathname: string): readonly string[] | undefined {
    return this.#readPaths().has(pathname) ? this.#hashesIn(pathname) : undefined;
  }

  /** The hashes of the pages that Next answers in the place of others: what is not found, and what failed. */
  fallbackHashes(): readonly string[] {
    return [...this.#readPaths()]
      .filter((path) => path.startsWith("/_"))
      .flatMap((path) => this.#hashesIn(path));
  }

  #readPaths(): Set<string> {
    if (this.#paths) return this.#paths;
    const routes = this.isReadable() ? JSON.parse(readFileSync(this.#manifest, "utf8")).routes : {};
    // Files such as an icon are prerendered too, and are no pages.
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
