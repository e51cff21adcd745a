import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import type { ingestRequest } from "@/lib/contract/ledger/message";
import packageJson from "@/package.json";
import { contractTypes } from "@/packages/client/build/contract-types";
import type { CostRequest } from "@/packages/client/src/index";
import { measure } from "@/scripts/build-client.mjs";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { recordedLabels } from "./client";

const execute = promisify(execFile);
const harness = withSharedHarness();
const folder = mkdtempSync(join(tmpdir(), "outlay-client-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("Has the types of the contract: `npm run build:client` writes them again", () => {
  const file = join(projectRoot, "packages/client/src/contract.generated.ts");
  expect(readFileSync(file, "utf8")).toBe(contractTypes());
});

test("Has types whose every value the contract's types take", () => {
  const toContract = (request: CostRequest): z.input<typeof ingestRequest> => request as never;
  expect(toContract).toBeTypeOf("function");
});

test("Has at most 4,000 bytes in a page, minified and compressed", async () => {
  expect(await measure("index.ts")).toBeLessThanOrEqual(4000);
});

describe("The packed package in an empty folder", () => {
  const entries = [
    "@outlay/client",
    ...["ai-sdk", "anthropic", "openai"].map((name) => `@outlay/client/${name}`),
  ];

  beforeAll(async () => {
    writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
    const tarball = join(projectRoot, `dist/outlay-client-${packageJson.version}.tgz`);
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    await execute(npm, ["install", tarball, "--offline", "--no-audit", "--no-fund"], { cwd: folder });
  });

  test("Needs no other package", () => {
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    expect(Object.keys(lock.packages)).toEqual(["", "node_modules/@outlay/client"]);
    expect(lock.packages["node_modules/@outlay/client"]).toMatchObject({
      version: packageJson.version,
      license: "MIT",
      engines: { node: ">=20" },
    });
  });

  test.each(entries)("Is imported by plain Node as %s", async (entry) => {
    const program = `import * as entry from "${entry}"; console.log(Object.keys(entry).join());`;
    const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program], {
      cwd: folder,
    });
    expect(stdout.trim()).toMatch(
      /^(BudgetExceededError,Outlay,OutlayError|outlayMiddleware|wrapAnthropic|wrapOpenAI)$/,
    );
  });

  const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
  /** Compiles a program against the package, as strictly as TypeScript can. @returns what it says */
  async function compile(text: string, ...options: string[]): Promise<string> {
    writeFileSync(join(folder, "program.ts"), text);
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
    const target = ["--target", "es2022", "--types", "", ...options];
    const args = [tsc, ...strict, ...target, "program.ts"];
    return execute(process.execPath, args, { cwd: folder }).then(
      () => "",
      ({ stdout }) => String(stdout),
    );
  }

  const program = (...lines: string[]) =>
    [
      'import { Outlay, type CostMessage } from "@outlay/client";',
      'const outlay = new Outlay({ url: "http://127.0.0.1", project: "checkout", onError: (error) => error.code === "rate_limited" });',
      'const message: CostMessage = { type: "usage", provider: "openai", unit_type: "requests", quantity: 1 };',
      ...lines,
    ].join("\n");

  test.each([["nodenext"], ["preserve"]])(
    "Compiles without skipLibCheck, with modules as %s",
    async (module) => {
      const imports = entries.map((entry) => `import "${entry}";`);
      const use = [
        "outlay.record(message, { feature: undefined } as {});",
        'const result = await outlay.recordNow(message, { idempotencyKey: "1" });',
        "const amount: number = result.amount_usd;",
        "const done: boolean = await outlay.flush(1); await outlay.close(); { await using other = outlay; void other; }",
        'outlay.record({ type: "expense", vendor: "v", amount: 1, currency: undefined });',
        'outlay.record({ type: "usage", provider: "p", lines: [{ unit_type: "requests", quantity: 1 }] });',
        "export const all = [amount, done];",
      ];
      expect(await compile(program(...use, ...imports), "--module", module)).toBe("");
    },
  );

  test.each([
    [
      "a misspelt field",
      'outlay.record({ type: "usage", provider: "p", unit_type: "requests", quantty: 1 });',
      "quantty",
    ],
    [
      "a missing field",
      'outlay.record({ type: "usage", provider: "p", unit_type: "requests" });',
      "quantity",
    ],
    [
      "a quantity beside lines",
      'outlay.record({ ...message, lines: [{ unit_type: "requests", quantity: 1 }] });',
      "undefined",
    ],
    ["a text as amount", 'outlay.record({ type: "expense", vendor: "v", amount: "1" });', "string"],
    ["an unknown type", 'outlay.record({ type: "cost", amount: 1 });', '"cost"'],
    ["a source that is none", 'outlay.record(message, { source: "web" });', '"web"'],
    ["a client without address", "new Outlay({});", "url"],
    ["an unknown setting", 'new Outlay({ url: "", interval: 1 });', "interval"],
  ])("Refuses to compile %s", async (_, line, named) => {
    const said = await compile(program(line), "--module", "nodenext");
    expect(said.match(/error TS/g), said).toHaveLength(1);
    expect(said).toMatch(/^program\.ts\(4,/);
    expect(said).toContain(named);
  });
});

test("Records in a runtime that has only fetch: no process, no document", async () => {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace);
  const { outputFiles } = await build({
    entryPoints: [join(projectRoot, "dist/client/index.js")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "client",
  });
  // What workers of the WinterTC kind have, and the client needs.
  const globals = {
    fetch,
    AbortController,
    TextEncoder,
    crypto,
    setTimeout: (run: () => void, ms: number) => Number(setTimeout(run, ms)),
    clearTimeout,
  };
  const context = createContext({ ...globals, url: harness.services[0]?.baseUrl, secret });
  runInContext(outputFiles[0]?.text ?? "", context);
  const counts = await runInContext(
    `(async () => {
      const outlay = new client.Outlay({ url, apiKey: secret, project: "checkout", exitSignals: ["SIGTERM"] });
      outlay.record({ type: "usage", provider: "openai", unit_type: "requests", quantity: 1, label: "m1" });
      await outlay.close();
      return typeof process + JSON.stringify(outlay.counts);
    })()`,
    context,
  );
  expect(counts).toBe('undefined{"recorded":1,"refused":0,"dropped":0,"queued":0}');
  expect(await recordedLabels(harness, workspace)).toEqual({ m1: 1 });
});
