// Writes the reference as static files into a folder: pages, stylesheet, scripts, fonts and the search index.
// `scripts/build.mjs` bundles and runs it. It is not part of the running service.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import tailwind from "@tailwindcss/postcss";
import { build, type Plugin } from "esbuild";
import postcss from "postcss";
import { routes } from "@/app/routes.generated";
import { buildOpenApi } from "@/lib/http/openapi";
import { renderPage } from "./document";
import { buildSite } from "./pages";
import { listEntries } from "./search-index";

const [root = ".", target = "public/docs"] = process.argv.slice(2);
const sources = join(root, "app/docs");

/** Compiles the stylesheet with Tailwind. */
const styles: Plugin = {
  name: "styles",
  setup: ({ onLoad }) =>
    onLoad({ filter: /docs\.css$/ }, async ({ path }) => {
      const compiler = postcss([tailwind({ base: sources, optimize: true })]);
      const { css } = await compiler.process(readFileSync(path, "utf8"), { from: path });
      return { contents: css, loader: "css" };
    }),
};

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const site = buildSite(await buildOpenApi(routes, "/"));
const index = join(target, "search.json");
writeFileSync(index, JSON.stringify(listEntries(site)));
// The names contain hashes of the contents, so that browsers may cache the files indefinitely.
const { metafile } = await build({
  entryPoints: [
    join(sources, "docs.css"),
    join(sources, "browser/theme.ts"),
    join(sources, "browser/docs.ts"),
    index,
  ],
  outdir: join(target, "assets"),
  entryNames: "[name].[hash]",
  assetNames: "[name].[hash]",
  publicPath: "/docs/assets",
  loader: { ".woff2": "file", ".json": "copy" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  metafile: true,
  plugins: [styles],
});
rmSync(index);
const assets = Object.keys(metafile.outputs).map((path) => `/docs/assets/${basename(path)}`);
const assetOf = (name: RegExp) => assets.find((path) => name.test(path)) ?? "";
const files = {
  css: assetOf(/docs\.\w+\.css$/),
  fonts: assets.filter((path) => path.endsWith(".woff2")),
  theme: assetOf(/theme\.\w+\.js$/),
  script: assetOf(/docs\.\w+\.js$/),
  search: assetOf(/search\.\w+\.json$/),
  icon: "/icon.svg",
};
for (const page of site.groups.flatMap(({ pages }) => pages)) {
  const name = page.path === "/docs" ? "index" : page.path.slice("/docs/".length);
  writeFileSync(join(target, `${name}.html`), renderPage(page, site, files));
}
