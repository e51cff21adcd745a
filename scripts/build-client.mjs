// `npm run build:client`: builds the package @outlay/client from packages/client into dist/client, and packs it into
// dist/outlay-client-VERSION.tgz. It has the version of the service. Writes the types of the contract first.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { isBundleFresh, recordBundle, writeWhole } from "./build-record.mjs";
import { serverBundle } from "./bundles.mjs";
import { run, runNpm } from "./prepare.mjs";
import { root } from "./root.mjs";

/** The most bytes of the client without wrappers, minified and compressed, which a page has to load. */
const maxCoreBytes = 4000;

const source = join(root, "packages/client");
const target = join(root, "dist/client");

/** Writes packages/client/src/contract.generated.ts if the contract has changed. @returns the paths of its source files */
async function writeContractTypes() {
  const esbuild = await import("esbuild");
  const program = join(root, "dist/contract-types.mjs");
  const options = { ...serverBundle(program, "packages/client/build/contract-types.ts"), metafile: true };
  const { metafile } = await esbuild.build(options);
  const { contractTypes } = await import(pathToFileURL(program).href);
  const file = join(source, "src/contract.generated.ts");
  const types = contractTypes();
  if (readFileSync(file, "utf8") !== types) writeWhole(file, types);
  return Object.keys(metafile.inputs).filter((path) => !path.startsWith("node_modules/"));
}

/** How many bytes an entry of the package has, minified and compressed. */
export async function measure(entry) {
  const esbuild = await import("esbuild");
  const options = { bundle: true, minify: true, format: "esm", write: false };
  const { outputFiles } = await esbuild.build({ ...options, entryPoints: [join(source, "src", entry)] });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

/** The sources of the package besides the contract: its own files, and those that build it. */
function ownSources() {
  const files = readdirSync(source, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map(({ parentPath, name }) => relative(root, join(parentPath, name)));
  return [...paths, "package.json", "package-lock.json", "scripts/build-client.mjs"];
}

/** Builds and packs the package if one of its sources has changed. */
export async function ensureClient() {
  if (!isBundleFresh("client", "dist/client/index.js")) await buildClient();
}

/** Builds and packs the package. @returns the path of the packed file @throws Error if the core is too large */
async function buildClient() {
  const sources = await writeContractTypes();
  const size = await measure("index.ts");
  if (size > maxCoreBytes) throw new Error(`The client has ${size} bytes; ${maxCoreBytes} are allowed.`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await run([process.execPath, tsc, "--project", join(source, "tsconfig.build.json"), "--outDir", target]);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  for (const name of readdirSync(join(source, "bin")))
    copyFileSync(join(source, "bin", name), join(target, name));
  copyFileSync(join(source, "README.md"), join(target, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(target, "LICENSE"));
  await runNpm(["pack", target, "--pack-destination", join(root, "dist"), "--ignore-scripts"]);
  recordBundle("client", [...sources, ...ownSources()], readFileSync(join(target, "index.js")));
  return join(root, `dist/outlay-client-${version}.tgz`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    const file = await buildClient();
    console.log(`${file}: the client alone has ${await measure("index.ts")} bytes, minified and compressed.`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
