import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { reconcile } from "@/lib/ledger/reconcile/service";
import { copyTemplate, startTestCluster, type TestCluster } from "@/tests/helpers/cluster";
import { Fixtures } from "@/tests/helpers/keys";
import { projectRoot } from "@/tests/helpers/project-root";
import { startService } from "@/tests/helpers/service";
import { compareAnswers } from "./answers";
import { tryPrograms } from "./cli";
import { bundlePresent, bundleServer, catalogueOf, upgradeKilled } from "./programs";
import { checkOut, type Version, versionsOf } from "./versions";

/**
 * `npm run test:upgrade [-- COMMIT…]`: upgrades a filled database of each version that was on the main branch.
 * `npm run test:upgrade -- answers COMMIT`: compares the answers of the service of a commit with those of the present one.
 * `npm run test:upgrade -- cli`: applies the migrations with the Supabase CLI and psql.
 */

type Call = { idempotency_key: string; body: Record<string, unknown> };
type Answer = { status: number; id: unknown; amount_usd: unknown };

const usage = { provider: "openai", model: "gpt-4o", unit_type: "input_tokens" };
const calls: Call[] = Array.from({ length: 40 }, (_, number) => ({
  idempotency_key: `call-${number}`,
  body: {
    project: number % 2 ? "alpha" : "beta",
    source: "api",
    message:
      number % 4 === 0
        ? { type: "expense", vendor: "Figma", amount: number + 0.25, currency: "USD" }
        : { type: "usage", ...usage, quantity: 1_000 + number, ...(number % 3 === 0 && { feature: "chat" }) },
  },
}));

async function send(address: string, secret: string, { idempotency_key, body }: Call): Promise<Response> {
  return fetch(`${address}/api/v1/messages`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${secret}`,
      "Content-Type": "application/json",
      "Idempotency-Key": idempotency_key,
    },
    body: JSON.stringify(body),
  });
}

async function record(address: string, secret: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const call of calls) {
    const response = await send(address, secret, call);
    const { id, amount_usd, error } = (await response.json()) as Answer & { error?: unknown };
    if (!response.ok)
      throw new Error(`${JSON.stringify(call.body)}: ${response.status} ${JSON.stringify(error)}`);
    answers.push({ status: response.status, id, amount_usd });
  }
  return answers;
}

/** What a process of the old version answered while its database was upgraded. */
type Beside = { statuses: Record<number, number>; ids: Set<string> };

/**
 * Records, replays and reads by a process of the old version while its database is upgraded, and some more after that.
 * @throws Error where an answer is neither 200, 201 nor 503
 */
async function callBeside(address: string, secret: string, upgrade: Promise<unknown>): Promise<Beside> {
  const beside: Beside = { statuses: {}, ids: new Set() };
  let left = Number.POSITIVE_INFINITY;
  upgrade.finally(() => (left = 20)).catch(() => {});
  for (let round = 0; left > 0; round++, left--) {
    const call = { ...(calls[round % calls.length] as Call), idempotency_key: `beside-${round}` };
    const headers = { Authorization: `Bearer ${secret}` };
    for (const response of [
      await send(address, secret, call),
      await send(address, secret, call),
      await fetch(`${address}/api/v1/summary/month`, { headers }),
      await fetch(`${address}/api/v1/budgets/status`, { headers }),
    ]) {
      const { status, url } = response;
      const body = await response.text();
      if (![200, 201, 503].includes(status))
        throw new Error(`a process of the old version answered ${status} to ${url}: ${body}`);
      if (status === 201) beside.ids.add(JSON.parse(body).id);
      beside.statuses[status] = (beside.statuses[status] ?? 0) + 1;
    }
  }
  return beside;
}

async function readSums({ sql }: Fixtures, workspace: string): Promise<string> {
  const { rows } = await sql.query(
    `select concat_ws(' ', count(distinct id), trim_scale(sum(amount_usd))) as ledger,
       (select trim_scale(sum(amount_usd)) from public.daily_spend where workspace_id = $1) as days
     from public.messages where workspace_id = $1`,
    [workspace],
  );
  return `${rows[0].ledger} ${rows[0].days}`;
}

/** @returns what was seen, or throws what is wrong */
async function tryVersion(
  { commit }: Version,
  cluster: TestCluster,
  folder: string,
  wanted: string[],
): Promise<string> {
  const database = await copyTemplate(cluster, null);
  const fixtures = new Fixtures(database.adminUrl);
  try {
    const checkout = checkOut(commit, folder);
    await bootstrapDatabaseAt(database.superuserUrl, join(checkout, "supabase/bootstrap"));
    const program = await bundleServer(checkout);
    // A commit in the middle of some work has migrations, and no program that can be built.
    if (!program) await migrate(database.adminUrl, join(checkout, "supabase/migrations"));
    const old = program && (await startService(database, {}, program));
    const workspace = await fixtures.workspace("kept");
    for (const project of ["alpha", "beta"]) await fixtures.project(workspace, project);
    const { secret } = await fixtures.key(workspace);
    const answers = old ? await record(old.baseUrl, secret) : [];
    const sums = await readSums(fixtures, workspace);

    await bootstrapDatabaseAt(database.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    const { secret: other } = await fixtures.key(await fixtures.workspace("beside"));
    // Versions before the baseline have to be stopped first.
    const isRolling = existsSync(join(checkout, "supabase/archive"));
    if (old && !isRolling) await old.stop();
    const upgrade = upgradeKilled(database);
    const beside =
      isRolling && old && (await callBeside(old.baseUrl, other, upgrade).finally(() => old.stop()));
    const kills = await upgrade;
    const { rows: lost } = await fixtures.sql.query(
      "select id from unnest($1::uuid[]) as id except select id from public.messages",
      [[...(beside ? beside.ids : [])]],
    );
    if (lost.length > 0) throw new Error(`messages are lost: ${JSON.stringify(lost).slice(0, 200)}`);
    const made = await catalogueOf(database.adminUrl);
    const differences = [
      ...wanted.filter((line) => !made.includes(line)).map((line) => `lacks ${line}`),
      ...made.filter((line) => !wanted.includes(line)).map((line) => `has ${line}`),
    ];
    if (differences.length > 0)
      throw new Error(`the schema differs: ${differences.join("; ").slice(0, 400)}`);

    configureDatabase(database);
    const { found } = await reconcile({ repair: false }).finally(closeDatabase);
    if (found.length > 0) throw new Error(`reconcile found ${JSON.stringify(found).slice(0, 400)}`);
    const service = await startService(database);
    const again = await record(service.baseUrl, secret).finally(() => service.stop());
    const replayed = old ? again : [];
    if (
      JSON.stringify(replayed.map(({ id, amount_usd }) => [id, amount_usd])) !==
      JSON.stringify(answers.map(({ id, amount_usd }) => [id, amount_usd]))
    )
      throw new Error(
        `replays differ: ${JSON.stringify(answers)} then ${JSON.stringify(replayed)}`.slice(0, 600),
      );
    const after = await readSums(fixtures, workspace);
    if (old && after !== sums) throw new Error(`sums were ${sums} and are ${after}`);
    return old
      ? `killed ${kills} times; ${sums}; ${replayed.length} replays${beside ? `; beside: ${JSON.stringify(beside.statuses)}` : ""}`
      : `killed ${kills} times; no program`;
  } finally {
    await fixtures.close();
    await database.drop();
  }
}

const only = process.argv.slice(2);
const { cluster, stop } = await startTestCluster();
const folder = mkdtempSync(join(tmpdir(), "outlay-upgrade-"));
let failed = 0;
try {
  await bundlePresent();
  const fresh = await copyTemplate(cluster);
  const wanted = await catalogueOf(fresh.adminUrl);
  await fresh.drop();
  if (only[0] === "cli") await tryPrograms(cluster, wanted);
  else if (only[0] === "answers") await compareAnswers(checkOut(only[1] ?? "HEAD", folder), cluster);
  else
    for (const version of versionsOf(only)) {
      const { commit, files, date } = version;
      const result = await tryVersion(version, cluster, folder, wanted).catch((error: Error) => {
        failed += 1;
        return `FAILED: ${error.message}`;
      });
      process.stdout.write(`| ${commit.slice(0, 7)} | ${date} | ${files} files | ${result} |\n`);
      rmSync(join(folder, commit), { recursive: true, force: true });
    }
} finally {
  await stop();
  rmSync(folder, { recursive: true, force: true });
}
if (failed > 0) process.stdout.write(`${failed} versions could not be upgraded.\n`);
process.exit(failed === 0 ? 0 : 1);
