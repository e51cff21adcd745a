// `npm run conformance` checks the service with the Model Context Protocol's public suite, the suite's authorization mode
// and the Inspector. Most of the suite calls tools, prompts and resources that it expects a server to have. So it runs against the service
// with tests/conformance/example-server.ts instead of its tools; the HTTP server, admission and transport are the service's own. The
// check of the tool list, the authorization mode and the Inspector run against the unchanged service. The suite and the Inspector are
// installed into a separate cache.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { step } from "../server/progress.mjs";
import { serverBundle } from "./bundles.mjs";
import { ensureBuilt, ensureInstalled, requireNode, run, stopRunning } from "./prepare.mjs";
import { root } from "./root.mjs";

const packages = {
  "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
  "@modelcontextprotocol/inspector": "2.12.0",
};
/** The suite and the Inspector need a newer Node than the service. It is installed from npm. */
const newerNode = "22.23.3";
const revisions = ["2026-07-28", "2025-11-25"];
const cache = join(root, "node_modules/.cache/outlay-conformance");
const suite = join(cache, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
/** Tasks (SEP-2663) are an optional extension: no revision requires them, and the SDK does not serve them. */
const isNotRequired = (scenario) => scenario.startsWith("tasks-");

requireNode();
process.chdir(root);
const opened = [];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stopRunning);
try {
  await step("install", ensureInstalled);
  await step("build", ensureBuilt);
  let node = "";
  await step("tools", async () => {
    node = await installTools();
    return cache;
  });
  const key = `conformance-${randomUUID()}`;
  const problems = [];
  const check = (part, runPart) =>
    step(part, async () => {
      const verdict = await runPart();
      problems.push(...verdict.problems);
      return verdict.text;
    });
  const examples = await startProxy(await startService(await buildExamples(), key), key);
  for (const revision of revisions) {
    await check(revision, () => runSuite(node, examples, revision, ["--requirements", revision]));
  }
  const service = await startService("dist/server.mjs", key);
  const proxy = await startProxy(service, key);
  for (const revision of revisions) {
    const options = ["--scenario", "tools-list", "--spec-version", revision];
    await check(`tools ${revision}`, () => runSuite(node, proxy, `tools-${revision}`, options));
  }
  await check("authorization", () => runAuthorization(node, service));
  await step("inspector", async () => {
    await runInspector(node, `${service}/api/mcp`, key);
    return "tools/list is strict, a tool answers";
  });
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  for (const close of opened.reverse()) await close();
}

/** Installs the Node for the suite and the Inspector. @returns its path */
async function installTools() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > 22 || (major === 22 && minor >= 19);
  const nodePackage = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const dependencies = { ...packages, ...(!isNew && { [nodePackage]: newerNode }) };
  const manifest = `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`;
  const done = join(cache, "installed.json");
  if (!existsSync(done) || readFileSync(done, "utf8") !== manifest) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "package.json"), manifest);
    await run(["npm", "install", "--prefix", cache, "--no-audit", "--no-fund", "--no-package-lock"], {
      shell: process.platform === "win32",
    });
    writeFileSync(done, manifest);
  }
  return isNew ? process.execPath : join(cache, "node_modules", nodePackage, "bin/node");
}

/** Bundles the service with the suite's example server instead of its tools. @returns the bundle's path */
async function buildExamples() {
  const bundle = "dist/conformance.mjs";
  const tools = { importer: join(root, "lib/mcp/protocol.ts"), filter: /^\.\/server$/ };
  const example = join(root, "tests/conformance/example-server.ts");
  const substitution = {
    name: "example-server",
    setup: ({ onResolve }) =>
      onResolve({ filter: tools.filter }, ({ importer }) =>
        importer === tools.importer ? { path: example } : undefined,
      ),
  };
  const esbuild = await import("esbuild");
  await esbuild.build({ ...serverBundle(bundle), plugins: [substitution] });
  return bundle;
}

/** Starts a bundle of the service on an empty database, with an API key from its environment. @returns its address */
async function startService(bundle, key) {
  const dataDir = mkdtempSync(join(tmpdir(), "outlay-conformance-"));
  opened.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const settings = { NODE_ENV: "production", PORT: "0", OUTLAY_DATA_DIR: dataDir, LOG_LEVEL: "error" };
  const child = spawn(process.execPath, [bundle], {
    env: { ...process.env, ...settings, SVC_API_KEY: key, SVC_ALLOW_ENV_API_KEY: "true" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  opened.push(async () => {
    child.kill("SIGTERM");
    await gone;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /ready\b.*?(http:\/\/[\w.:[\]]+)/.exec(line)?.[1];
    if (address) {
      child.stdout.resume();
      return address;
    }
  }
  throw new Error("The service ended before it was ready.");
}

/** Starts a proxy that adds credentials, because the suite sends none. @returns its address */
async function startProxy(service, key) {
  const { hostname, port } = new URL(service);
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const { method, url: path } = incoming;
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  opened.push(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${proxy.address().port}`;
}

/** Runs the suite against the tools of a service. @returns the verdict */
async function runSuite(node, service, part, options) {
  const output = emptyOutput(part);
  const failure = await run([
    node,
    suite,
    "server",
    "--url",
    `${service}/api/mcp`,
    ...options,
    "-o",
    output,
  ]).then(
    () => undefined,
    (error) => error,
  );
  const verdict = judge(part, output);
  // The suite may fail without a failed check, because a scenario that did not end has no results.
  if (failure && verdict.problems.length === 0) throw failure;
  return verdict;
}

/** Runs the suite's authorization mode, and signs in at the page that the suite would open in a browser. */
async function runAuthorization(node, service) {
  const { openBrowser, registerClient, openPage, sendForm, allowing } = await loadSignIn();
  const port = await freePort();
  const client = await registerClient(service, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const browser = await openBrowser(service);
  const me = await fetch(`${service}/api/v1/me`, { headers: { authorization: `Bearer ${browser.token}` } });
  const [{ slug: workspace }] = (await me.json()).workspaces;
  const output = emptyOutput("authorization");
  const options = ["--url", service, "--client-id", client, "--resource", browser.resource, "-p", `${port}`];
  const child = spawn(node, [suite, "authorization", ...options, "-o", output], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  opened.push(() => child.kill("SIGTERM"));
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith(`${service}/oauth/authorize?`)) continue;
    const { nonce } = await openPage(browser, line);
    const { location } = await sendForm(browser, allowing(nonce, { workspace }));
    await fetch(location);
  }
  await gone;
  return judge("authorization", output);
}

/** The sign-in helper of the tests is TypeScript, so it is bundled. */
async function loadSignIn() {
  const file = join(cache, "sign-in.mjs");
  const esbuild = await import("esbuild");
  await esbuild.build(serverBundle(file, "tests/helpers/oauth.ts"));
  return import(pathToFileURL(file).href);
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Creates an empty folder for the results of a part. */
function emptyOutput(part) {
  const output = join(cache, `results-${part}`);
  rmSync(output, { recursive: true, force: true });
  return output;
}

/** Reads the results of a part of the suite. Every required check must pass. */
function judge(part, output) {
  const problems = [];
  let passed = 0;
  for (const folder of existsSync(output) ? readdirSync(output) : []) {
    const scenario = /^(?:authorization-)?server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1] ?? folder;
    if (isNotRequired(scenario)) continue;
    const checks = JSON.parse(readFileSync(join(output, folder, "checks.json"), "utf8"));
    for (const { id, status, errorMessage } of checks) {
      if (status === "SUCCESS") passed += 1;
      if (status === "FAILURE") problems.push(`${part} failed: ${scenario}: ${id}: ${errorMessage}`);
    }
  }
  if (passed === 0) throw new Error(`The suite checked nothing of ${part}.`);
  return { problems, text: `${passed} checks passed, ${problems.length} failed` };
}

async function runInspector(node, url, key) {
  const program = join(cache, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  const inspect = (...args) =>
    run([
      node,
      program,
      "--cli",
      url,
      "--transport",
      "http",
      "--header",
      `Authorization: Bearer ${key}`,
      ...args,
    ]);
  await inspect("--method", "tools/list", "--strict");
  const answer = await inspect("--method", "tools/call", "--tool-name", "get_budget_status");
  if (!answer.includes("budgets")) throw new Error(`The Inspector was answered:\n${answer}`);
}
