import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { installOwnPackages } from "@/tests/helpers/own-packages";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

/** The generators are a package of their own, which the service does not need. */
const folder = join(projectRoot, "tests/generators");
const generated = join(folder, "generated");
const execute = promisify(execFile);

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

/** Stands for the service's address in what is generated, so that the same document gives the same clients. */
const placeholder = "http://outlay.invalid";

/** The compiler of the service, which is native: the generators' own takes ten times its processor time. */
const compiler = join(projectRoot, "node_modules/typescript/bin/tsc");

/** Runs a program of the generators' packages, or one by its whole path. @throws Error with its whole output */
async function run(name: string, ...args: string[]): Promise<void> {
  try {
    const env = { ...process.env, OUTLAY_URL: placeholder, DO_NOT_TRACK: "1" };
    const program = resolve(folder, "node_modules", name);
    await execute(process.execPath, [program, ...args], { cwd: folder, env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${name} failed:\n${stdout}\n${stderr}`);
  }
}

beforeAll(async () => {
  await installOwnPackages(folder);
  const document = await (await fetch(`${baseUrl()}/api/openapi.json`)).text();
  const text = document.replaceAll(baseUrl(), placeholder);
  const hash = createHash("sha256").update(text);
  for (const { name, parentPath } of readdirSync(folder, { withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ))
    hash.update(name).update(readFileSync(join(parentPath, name)));
  const made = join(generated, "made-from");
  const source = hash.digest("hex");
  if (existsSync(made) && readFileSync(made, "utf8") === source) return;
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated);
  writeFileSync(join(generated, "openapi.json"), text);
  writeFileSync(made, source);
}, 300_000);

/** Does what has not succeeded yet with this document and these programs, because it takes most of a minute of a processor. */
async function once(name: string, run: () => Promise<void>): Promise<void> {
  const done = join(generated, `${name}.done`);
  if (existsSync(done)) return;
  await run();
  writeFileSync(done, "");
}

const generators: Record<string, () => Promise<void>> = {
  "openapi-typescript": () =>
    run(
      "openapi-typescript/bin/cli.js",
      "generated/openapi.json",
      "--output",
      "generated/openapi-typescript.ts",
    ),
  "hey-api": () =>
    run(
      "@hey-api/openapi-ts/bin/run.js",
      ...["--input", "./generated/openapi.json", "--output", "generated/hey-api", "--no-log-file"],
    ),
  orval: () => run("orval/dist/bin/orval.js", "--config", "orval.config.cjs"),
  kubb: () => run("@kubb/cli/bin/kubb.cjs", "generate", "--config", "kubb.config.mjs"),
};

describe("Clients generated from the OpenAPI document", () => {
  beforeAll(async () => {
    for (const [name, generate] of Object.entries(generators)) await once(name, generate);
  }, 300_000);

  test("Compile under strict", { timeout: 120_000 }, async () => {
    await once("compiled", () => run(compiler, "--project", "tsconfig.json"));
  });

  test.each(Object.keys(generators))("Record a cost and read it back, as made by %s", async (name) => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const outfile = join(generated, `${name}.bundle.mjs`);
    const { outputFiles } = await build({
      entryPoints: [join(folder, `${name}.ts`)],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
      write: false,
    });
    for (const { path, text } of outputFiles) writeFileSync(path, text.replaceAll(placeholder, baseUrl()));
    const { recordCost } = await import(/* @vite-ignore */ outfile);
    const service = { url: baseUrl(), key: secret };
    const first = await recordCost(service, "job-1");
    expect(first).toMatchObject({ amount_usd: 0.1825, cost_status: "priced", total_usd: 0.1825 });
    // A retry is the same cost, in the client's own types.
    expect(await recordCost(service, "job-1")).toEqual(first);
  });
});

test("Passes Spectral without errors", { timeout: 120_000 }, async () => {
  await once("linted", () =>
    run(
      "@stoplight/spectral-cli/dist/index.js",
      ...["lint", "generated/openapi.json", "--ruleset", ".spectral.yaml", "--fail-severity", "warn"],
    ),
  );
});
