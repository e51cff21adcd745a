// `npm run bench:peers -- --otari PROGRAM --litellm PROGRAM`: compares Outlay with gateways that keep limits: 2,000 calls by 64 callers at a
// limit for 1,000 of them, and the same while a process is killed. `--only outlay|otari|litellm`, `--calls N`, `--callers N`.
//
// It needs what it compares with, each in a Python environment of its own; without one, that one is left out:
//   otari    a clone of https://github.com/mozilla-ai/otari, installed by `pip install -e . 'sqlalchemy<2.1'` with Python 3.13
//   litellm  `pip install 'litellm[proxy]'`
import { join } from "node:path";
import { step } from "../server/progress.mjs";
import { serverBundle } from "./bundles.mjs";
import { ensureBuilt, ensureInstalled, requireNode } from "./prepare.mjs";
import { root } from "./root.mjs";

requireNode();
process.chdir(root);
try {
  await step("install", ensureInstalled);
  await step("build", ensureBuilt);
  const esbuild = await import("esbuild");
  await esbuild.build({
    ...serverBundle("dist/bench/peers.mjs"),
    entryPoints: ["bench/peers/main.ts"],
  });
  await import(join(root, "dist/bench/peers.mjs"));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
