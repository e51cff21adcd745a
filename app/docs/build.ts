// Writes the reference as static files into a folder: pages, stylesheet, scripts, fonts and the search index.
// `scripts/build.mjs` bundles and runs it. It is not part of the running service.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import tailwind from "@tailwindcss/postcss";
import { build } from "esbuild";
import postcss from "postcss";
import { routes } from "@/app/routes.generated";
import { buildOpenApi } from "@/lib/http/openapi";
import { renderPage } from "./document";
import { buildSite } from "./pages";
import { listEntries } from "./search-index";

const [root = ".", target = "public/docs"] = process.argv.slice(2);
const assets = join(target, "assets");
const sources = join(root, "app/docs");

/** Writes a file whose name contains a hash of its content, so that browsers may cache it indefinitely. @returns its path */
function writeAsset(name: string, content: string | Uint8Array): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 10);
  const file = name.replace(/(?=\.[^.]+$)/, `.${hash}`);
  writeFileSync(join(assets, file), content);
  return `/docs/assets/${file}`;
}

/** Bundles a script of the browser. @returns its code */
async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(sources, "browser", `${entry}.ts`)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    platform: "browser",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

/** Compiles the stylesheet and inserts the paths of its fonts. */
async function buildStyles(fonts: Map<string, string>): Promise<string> {
  const from = join(sources, "docs.css");
  const { css } = await postcss([tailwind({ base: sources, optimize: true })]).process(
    readFileSync(from, "utf8"),
    { from },
  );
  return css.replace(
    /url\("?(geist(?:-mono)?\.woff2)"?\)/g,
    (_, name: string) => `url("${fonts.get(name)}")`,
  );
}

rmSync(target, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });
const packaged = join(root, "node_modules/geist/dist/fonts");
const fonts = new Map(
  [
    ["geist.woff2", "geist-sans/Geist-Variable.woff2"],
    ["geist-mono.woff2", "geist-mono/GeistMono-Variable.woff2"],
  ].map(([name = "", file = ""]) => [name, writeAsset(name, readFileSync(join(packaged, file)))]),
);
const site = buildSite(await buildOpenApi(routes, "/"));
const files = {
  css: writeAsset("docs.css", await buildStyles(fonts)),
  fonts: [...fonts.values()],
  theme: writeAsset("theme.js", await bundle("theme")),
  script: writeAsset("docs.js", await bundle("docs")),
  search: writeAsset("search.json", JSON.stringify(listEntries(site))),
  icon: "/icon.svg",
};
for (const page of site.groups.flatMap(({ pages }) => pages)) {
  const name = page.path === "/docs" ? "index" : page.path.slice("/docs/".length);
  writeFileSync(join(target, `${name}.html`), renderPage(page, site, files));
}
