/*
 * Runs one session of Claude Code, with logs flushed every second, while the service is killed (-9) and started again, several
 * times. What its exporter delivered must be in the ledger once; what is not there must be the exports that the exporter gave
 * up, as its own error output counts them. Not part of `npm test`.
 *
 *   node tests/emitters/claude-code-kills.mjs [MINUTES]     10 by default; the tools are those of `npm run test:emitters`
 *
 * Claude Code tells a listener that hands each export on to the service, so that every attempt of the exporter is seen, with
 * its contents. What the listener does while the service is dead takes turns: it resets the connection, as the kernel does for
 * a request in flight, or it answers 502, as a load balancer does.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { claudeCodeSettings, claudeCommand, claudePackages } from "./claude-code.mjs";
import { compareCalls } from "./stage/compare-calls.mjs";
import { listenOnLoopback, readText } from "./stage/loopback.mjs";
import { startProviders } from "./stage/providers.mjs";
import { startService } from "./stage/service.mjs";
import { findVersions, startProgram, toolsFolder } from "./stage/tools.mjs";

const minutes = Number(process.argv[2] ?? 10);
const { versions, missing } = findVersions(claudePackages);
if (missing) {
  console.log(`skipped: needs ${missing.join(", ")} in ${toolsFolder}: npm run test:emitters -- --install`);
  process.exit(0);
}
console.log(`Claude Code ${versions[claudePackages[0]]}, ${minutes} minutes`);

const providers = await startProviders();
const service = await startService();
const source = await service.openWorkspace();
const folder = mkdtempSync(join(tmpdir(), "outlay-kills-"));
const log = join(folder, "debug.txt");

/** The attempts of each export by its body, and whether one of them was answered with 200. */
const sentExports = new Map();
const listener = createServer(async (request, response) => {
  const body = await readText(request);
  const sent = sentExports.get(body) ?? { attempts: 0, isAnswered: false };
  sentExports.set(body, sent);
  sent.attempts += 1;
  const { authorization, "content-type": type } = request.headers;
  try {
    const answer = await fetch(`${source.url}${request.url}`, {
      method: "POST",
      headers: { authorization, "content-type": type },
      body,
    });
    const text = await answer.text();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(text);
    sent.isAnswered ||= answer.ok;
  } catch {
    if (kills % 2 === 0) return request.socket.resetAndDestroy();
    response.writeHead(502);
    response.end();
  }
});
const { url, close } = await listenOnLoopback(listener);

const input = { "--input-format": "stream-json", "--output-format": "stream-json", "--debug-file": log };
const claude = startProgram([claudeCommand, "-p", "--verbose", ...Object.entries(input).flat()], {
  cwd: folder,
  stdin: "pipe",
  env: claudeCodeSettings({
    providers: providers.url,
    source: { ...source, otlp: `${url}/api/otlp` },
    folder,
    protocol: "http/json",
  }),
});

let kills = 0;
/** Whether the service has been started for the last time. */
let isOver = false;
const endsAt = Date.now() + minutes * 60_000;
try {
  await Promise.all([talk(), killAndStart()]);
  const { status, output } = await claude.ended;
  if (status !== 0) throw new Error(`Claude Code ended with ${status}:\n${output.slice(-2000)}`);
  process.exitCode = judge(await source.readCalls()) ? 0 : 1;
} finally {
  claude.process.kill();
  await close();
  await providers.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Sends messages to the session one after another, each once the one before has its result, until no more kills follow. */
async function talk() {
  const say = () =>
    claude.process.stdin.write(
      `${JSON.stringify({ type: "user", message: { role: "user", content: "Say hello." } })}\n`,
    );
  say();
  for await (const line of createInterface({ input: claude.process.stdout })) {
    if (!line.includes('"type":"result"')) continue;
    if (isOver) break;
    await wait(1000 + Math.random() * 1000);
    say();
  }
  claude.process.stdin.end();
}

/**
 * Kills the service and starts it again, until the time is over. The pause between the two is in turn shorter and longer than
 * the exporter retries for.
 */
async function killAndStart() {
  while (Date.now() < endsAt) {
    await wait(10_000 + Math.random() * 15_000);
    await service.kill();
    kills += 1;
    await wait([0, 500, 15_000][kills % 3]);
    await service.start();
  }
  isOver = true;
}

/** Prints how many calls were recorded, given up and lost. @returns whether no call was lost or counted twice */
function judge(recorded) {
  const all = [...sentExports].map(([body, sent]) => ({ ...sent, requests: requestsIn(body) }));
  const answered = new Set(all.flatMap(({ isAnswered, requests }) => (isAnswered ? requests : [])));
  const givenUp = all.filter(({ isAnswered }) => !isAnswered);
  const told = readFileSync(log, "utf8").match(/\[ERROR\].*OTEL diag error/g)?.length ?? 0;
  const retried = all.filter(({ attempts, isAnswered }) => isAnswered && attempts > 1);
  // An export that was given up may have been recorded: the service was killed between the record and its answer.
  const lost = providers.answered.filter(({ request }) => !answered.has(request));
  const isThere = (call) =>
    compareCalls(
      [call],
      recorded.filter((one) => one.output === call.output),
    ) === undefined;
  const difference = compareCalls(
    providers.answered.filter((call) => answered.has(call.request) || isThere(call)),
    recorded,
  );
  const unseen = lost.filter(({ request }) => !givenUp.some(({ requests }) => requests.includes(request)));
  console.log(
    [
      `${kills} kills`,
      `${providers.answered.length} calls at the mock, ${recorded.length} in the ledger`,
      `${all.length} exports, ${retried.length} delivered by a retry, ${givenUp.length} given up (the exporter's own errors: ${told})`,
      `${lost.length} calls in exports that were given up, of which ${lost.filter(isThere).length} were recorded before the kill`,
      ...(difference ? [difference] : ["Each delivered call is in the ledger once."]),
      ...unseen.map(({ request }) => `  in no export: ${request}`),
    ].join("\n"),
  );
  return difference === undefined && unseen.length === 0 && told === givenUp.length;
}

/** The provider's request ids that an export tells of. */
function requestsIn(body) {
  const { resourceLogs = [] } = JSON.parse(body);
  return resourceLogs
    .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
    .flatMap(({ attributes }) => {
      const of = Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
      return of["event.name"] === "api_request" ? [of.request_id] : [];
    });
}
