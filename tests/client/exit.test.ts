import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { projectRoot } from "@/tests/helpers/project-root";
import { startScript } from "@/tests/helpers/script";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { recordedLabels } from "./client";

const harness = withSharedHarness();

/** Starts a program that records two messages, with the built package. */
async function start(ending: string, url = harness.services[0]?.baseUrl ?? "") {
  const workspace = await harness.fixtures.workspace();
  const { secret } = await harness.fixtures.key(workspace);
  const script = startScript(join(projectRoot, "tests/client/fixtures/program.mjs"), [ending], {
    OUTLAY_PACKAGE: pathToFileURL(join(projectRoot, "dist/client/index.js")).href,
    OUTLAY_URL: url,
    OUTLAY_KEY: secret,
  });
  return { ...script, workspace, ready: () => script.line((line) => line === "ready" || undefined) };
}

const both = { m1: 1, m2: 1 };

test.each([
  ["ends by itself", "nothing"],
  ["awaits flush at its end", "flush"],
  ["awaits close at its end", "close"],
])("A program that %s has recorded everything", async (_, ending) => {
  const { ended, workspace } = await start(ending);
  const { status, output } = await ended;
  expect({ status, output }).toEqual({ status: 0, output: expect.not.stringMatching(/error/) });
  expect(await recordedLabels(harness, workspace)).toEqual(both);
});

test("A program that is told to end by a signal records everything, then ends by the signal", async () => {
  const { ended, workspace, child, ready } = await start("signal");
  await ready();
  child.kill("SIGTERM");
  await ended;
  expect(child.signalCode).toBe("SIGTERM");
  expect(await recordedLabels(harness, workspace)).toEqual(both);
});

test("A program that handles the signal itself, and closes, ends with its own status", async () => {
  const { ended, workspace, child, ready } = await start("two-listeners");
  await ready();
  child.kill("SIGTERM");
  expect((await ended).status).toBe(7);
  expect(await recordedLabels(harness, workspace)).toEqual(both);
});

test("Without exitSignals, signals end a program as they would without the client", async () => {
  const { ended, child, ready } = await start("ignored-signal");
  await ready();
  child.kill("SIGTERM");
  await ended;
  expect(child.signalCode).toBe("SIGTERM");
});

test("A program whose service is down ends within the time to drain, and says what it lost", async () => {
  const { ended } = await start("nothing", "http://127.0.0.1:9");
  const begun = Date.now();
  const { status, output } = await ended;
  expect(Date.now() - begun).toBeLessThan(15_000);
  expect(status).toBe(0);
  expect(output.match(/error not_sent/g)).toHaveLength(2);
});

test("A forked process and a worker thread record their own messages, and the first process its own", async () => {
  const { ended, workspace } = await start("fork");
  expect((await ended).status).toBe(0);
  await expect
    .poll(() => recordedLabels(harness, workspace), { timeout: 30_000 })
    .toEqual({ ...both, child1: 1, child2: 1, thread1: 1, thread2: 1 });
});
