import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import type { Plugin } from "esbuild";
import { projectRoot } from "@/tests/helpers/project-root";

/** A fault that is planted into a source before it is bundled. */
export type SourceFault = { file: string; replace: string; by: string };

/** The exports of `service.ts`. */
export type Product = typeof import("./service");

/** Starts a process: evaluates the bundle with the globals of a host. */
export type Boot = (host: { readonly globals: Readonly<Record<string, unknown>> }) => Product;

/** What a host gives to a bundle in place of Node's own, as parameters of the bundle's function. */
const globals = [
  "globalThis",
  "process",
  "Date",
  "Math",
  "performance",
  "crypto",
  "AbortSignal",
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
] as const;

const here = (name: string) => join(projectRoot, "tests/simulation/shims", `${name}.ts`);

/** Replaces what reaches the world: the database's driver, randomness, timers and receivers of alerts. */
const shims: Plugin = {
  name: "shims",
  setup: ({ onResolve }) => {
    const replaced: Record<string, string> = {
      pg: "pg",
      "node:crypto": "crypto",
      "node:timers/promises": "timers",
    };
    onResolve({ filter: /^(pg|node:crypto|node:timers\/promises)$/ }, ({ path, importer }) =>
      importer.includes("/node_modules/") || importer.includes("/tests/simulation/shims/")
        ? { path, external: true }
        : { path: here(replaced[path] as string) },
    );
    onResolve({ filter: /^\.\/post$/ }, ({ importer }) =>
      importer.endsWith("/lib/alerts/delivery/attempt.ts") ? { path: here("post") } : undefined,
    );
  },
};

/** @throws Error if a source no longer has the text that a fault replaces, or has it more than once */
const plant = (faults: readonly SourceFault[]): Plugin => ({
  name: "faults",
  setup: ({ onLoad }) => {
    for (const file of new Set(faults.map((fault) => fault.file)))
      onLoad({ filter: new RegExp(`/${file.replace(/[.[\]()/]/g, "\\$&")}$`) }, async ({ path }) => {
        let contents = await readFile(path, "utf8");
        for (const { replace, by } of faults.filter((fault) => fault.file === file)) {
          if (contents.split(replace).length !== 2)
            throw new Error(`${file} does not have this text exactly once: ${replace}`);
          contents = contents.replace(replace, () => by);
        }
        return { contents, loader: "ts" };
      });
  },
});

/** Bundles the product. @param faults planted into its sources */
export async function bundleProduct(faults: readonly SourceFault[] = []): Promise<Boot> {
  const esbuild = await import("esbuild");
  const { outputFiles } = await esbuild.build({
    absWorkingDir: projectRoot,
    entryPoints: ["tests/simulation/service.ts"],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    sourcemap: false,
    logLevel: "error",
    external: ["next", "next/*", "pg-native"],
    alias: { "@": projectRoot.replace(/[\\/]$/, "") },
    define: { "import.meta.url": JSON.stringify("file:///simulation.mjs") },
    plugins: [plant(faults), shims],
  });
  const [code] = outputFiles;
  const names = ["module", "exports", "require", "simulation", ...globals];
  const script = new Script(`(function(${names.join(",")}){${code?.text}\n})`, {
    filename: "simulation.cjs",
  });
  const run = script.runInThisContext() as (...values: unknown[]) => void;
  const require = createRequire(join(projectRoot, "package.json"));
  return (host) => {
    const module = { exports: {} };
    run(module, module.exports, require, host, ...globals.map((name) => host.globals[name]));
    return module.exports as Product;
  };
}
