/*
 * `npm run test:buckets`: a really started service reads exports from two stores, s3rver (the protocol of S3) and Azurite (that of Azure
 * Blob Storage): by manifests, over several pages of listings, again after a file was replaced, and says what a store refuses in its words.
 * Not part of `npm test`. It installs both stores with npm into the temporary folder.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { listenOnLoopback } from "../emitters/stage/loopback.mjs";
import { startService } from "../emitters/stage/service.mjs";

const tools = join(tmpdir(), "outlay-bucket-tools");
const programs = { s3rver: "3.7.1", azurite: "3.35.0" };
// The account and key that Azurite has, and s3rver's, are published: they protect nothing.
const azure = {
  account: "devstoreaccount1",
  key: "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
};
const s3Key = "S3RVER:S3RVER";

if (!existsSync(join(tools, "node_modules/.bin/azurite"))) {
  console.log(`Installing s3rver and azurite into ${tools} …`);
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, "package.json"), '{"private":true}');
  const named = Object.entries(programs).map(([name, version]) => `${name}@${version}`);
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", ...named], { cwd: tools });
}

const day = (back) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
const [billed, month] = [day(2), day(2).slice(0, 7)];
const data = mkdtempSync(join(tmpdir(), "outlay-buckets-"));
const children = [];

/** Starts a store, and waits until it answers. @returns its address */
async function startStore(name, args) {
  const { url, close } = await listenOnLoopback(createServer());
  await close();
  const { port } = new URL(url);
  const program = join(tools, "node_modules/.bin", name);
  // s3rver seals the marks of its pages with a cipher that OpenSSL 3 has among its old ones.
  const env = { ...process.env, NODE_OPTIONS: "--openssl-legacy-provider" };
  children.push(spawn(program, args(port, join(data, name)), { stdio: "ignore", env }));
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer) return `http://127.0.0.1:${port}`;
    await wait(100);
  }
  throw new Error(`${name} did not start.`);
}

const cur = (usd) =>
  [
    "bill_payer_account_id,line_item_usage_start_date,line_item_usage_end_date,line_item_line_item_type,line_item_product_code,line_item_usage_type,line_item_usage_amount,line_item_currency_code,line_item_unblended_cost,pricing_unit,line_item_iam_principal",
    `111,${billed}T10:00:00Z,${billed}T11:00:00Z,Usage,AmazonBedrock,USE1-Claude4.6Sonnet-input-tokens,2,USD,${usd},1K tokens,arn:aws:iam::111:user/alice`,
  ].join("\n");
const focus = (usd) =>
  [
    "BilledCost,BillingCurrency,BillingAccountId,ChargePeriodStart,ChargePeriodEnd,ProviderName,ServiceCategory,ChargeDescription",
    `${usd},USD,222,${billed}T00:00:00Z,${billed}T23:00:00Z,Microsoft,AI and Machine Learning,Azure OpenAI`,
  ].join("\n");

/** A SAS token of Azurite's account, version 2023-11-03. */
function sasOf(permissions) {
  const given = {
    sv: "2023-11-03",
    ss: "b",
    srt: "sco",
    sp: permissions,
    st: "",
    se: "2099-01-01T00:00:00Z",
  };
  const text = [
    ...[azure.account, given.sp, given.ss, given.srt, given.st, given.se, "", "https,http", given.sv, "", ""],
  ].join("\n");
  const sig = createHmac("sha256", Buffer.from(azure.key, "base64")).update(text).digest("base64");
  const { st: _, ...named } = given;
  return new URLSearchParams({ ...named, spr: "https,http", sig }).toString();
}

const put = async (url, body, headers = {}) => {
  const answer = await fetch(url, { method: "PUT", body, headers });
  assert.ok(answer.ok, `${url} answers ${answer.status}: ${await answer.text()}`);
};

let service;
try {
  const s3 = await startStore("s3rver", (port, folder) => [
    "-d",
    folder,
    "-p",
    port,
    "-a",
    "127.0.0.1",
    "--configure-bucket",
    "bills",
  ]);
  const blobs = await startStore("azurite-blob", (port, folder) => [
    ...["--blobPort", port, "--blobHost", "127.0.0.1", "-l", folder, "--skipApiVersionCheck", "--silent"],
  ]);
  process.env.SEALING_KEYS = Buffer.alloc(32, 7).toString("base64");
  process.env.BUCKET_HOSTS = "127.0.0.1";
  service = await startService();
  const { url, slug, token } = await service.openWorkspace();
  const call = async (method, path, body) => {
    const answer = await fetch(`${url}/api/v1/workspaces/${slug}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const ended = async (id) => {
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const account = (await call("GET", "/provider-accounts")).body.accounts.find((each) => each.id === id);
      if (!account.is_pulling) return account;
      await wait(100);
    }
    throw new Error("The pull did not end.");
  };
  const pulled = async (request) => {
    const { status, body } = await call("POST", "/provider-accounts", { ...request, since: day(20) });
    assert.equal(status, 201, JSON.stringify(body));
    return ended(body.id);
  };
  const again = async (id) => {
    assert.equal((await call("POST", `/provider-accounts/${id}/pull`, {})).status, 202);
    return ended(id);
  };
  const billedUsd = async () =>
    (await call("GET", "/billed-history")).body.days
      .filter((one) => one.day === billed)
      .map(({ provider, billed_usd: usd }) => `${provider} ${usd}`)
      .sort();

  // S3: a manifest names one of two files, behind more names than one page of the listing has.
  const prefix = `exports/team/data/BILLING_PERIOD=${month}`;
  const object = (name) => `${s3}/bills/${name.split("/").map(encodeURIComponent).join("/")}`;
  for (let index = 0; index < 1005; index += 1)
    await put(object(`exports/team/archive/${String(index).padStart(4, "0")}.txt`), "x");
  await put(object(`${prefix}/run 1&2.csv.gz`), gzipSync(cur("0.0625")));
  await put(object(`${prefix}/old.csv`), cur("99"));
  const manifest = JSON.stringify({ dataFiles: [`s3://bills/${prefix}/run 1&2.csv.gz`] });
  await put(object(`exports/team/metadata/BILLING_PERIOD=${month}/team-Manifest.json`), manifest);
  const folder = `${s3}/bills/exports/team`;
  const ofS3 = await pulled({ provider: "aws", key: s3Key, folder });
  assert.deepEqual([ofS3.state, ofS3.problem], ["healthy", null]);
  assert.deepEqual(await billedUsd(), ["aws 0.0625"]);
  console.log("S3: read by its manifest, over two pages of names, zipped with gzip.");

  await put(object(`${prefix}/run 1&2.csv.gz`), gzipSync(cur("0.125")));
  assert.equal((await again(ofS3.id)).state, "healthy");
  assert.deepEqual(await billedUsd(), ["aws 0.125"]);
  console.log("S3: a replaced file of the open month is read again, and counts in place of the first.");

  // s3rver checks the id of a key alone. What is signed is compared with the documentation's example (lib/bills/pulls/sign-s3.test.ts).
  const wrong = await pulled({ provider: "google", key: "GOOG1WRONG:wrong-secret", folder });
  assert.equal(wrong.state, "refused");
  assert.match(wrong.problem, /403: InvalidAccessKeyId/);
  assert.doesNotMatch(JSON.stringify(wrong), /wrong-secret/);
  console.log(`S3: ${wrong.problem}`);

  // Azure: the last run of an export overwrites the one before.
  const container = `${blobs}/${azure.account}/bills`;
  const writing = sasOf("rwlc");
  const blob = { "x-ms-blob-type": "BlockBlob" };
  await put(`${container}?restype=container&${writing}`, "");
  const [year, of] = month.split("-");
  const days = `${year}${of}01-${year}${of}28`;
  for (let index = 0; index < 1005; index += 1)
    await put(`${container}/exports/archive/${index}.txt?${writing}`, "x", blob);
  for (const [run, usd] of [
    ["a", "7"],
    ["b", "8.5"],
  ]) {
    const name = `exports/focus/${days}/${run}/part_0_0001.csv`;
    await put(`${container}/${name}?${writing}`, focus(usd), blob);
    const named = JSON.stringify({ blobs: [{ blobName: name }] });
    await put(`${container}/exports/focus/${days}/${run}/manifest.json?${writing}`, named, blob);
    await wait(1100);
  }
  const ofAzure = await pulled({ provider: "azure", key: sasOf("rl"), folder: `${container}/exports` });
  assert.deepEqual([ofAzure.state, ofAzure.problem], ["healthy", null]);
  assert.deepEqual(await billedUsd(), ["aws 0.125", "azure 8.5"]);
  console.log("Azure: read by the manifest of the last run, over two pages of names.");

  assert.equal((await call("DELETE", `/provider-accounts/${ofAzure.id}?bills=delete`)).status, 200);
  const refused = await pulled({
    provider: "azure",
    key: sasOf("l").replace(/sig=[^&]*/, "sig=AAAA"),
    folder: `${container}/exports`,
  });
  assert.equal(refused.state, "refused");
  assert.match(refused.problem, /403: /);
  console.log(`Azure: ${refused.problem}`);
  assert.deepEqual(await billedUsd(), ["aws 0.125"]);
  console.log("Removing an account with its bills ends its billed history.");
} finally {
  await service?.stop();
  for (const child of children) child.kill();
  rmSync(data, { recursive: true, force: true });
}
