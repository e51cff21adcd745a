import { expect, test } from "vitest";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { names, newOutlay, once, recordedLabels, usage } from "./client";
import { withIntermediary } from "./intermediary";

const harness = withHarness();
const intermediary = withIntermediary();

test("Records every message once although the service is killed and started in between", {
  timeout: 240_000,
}, async () => {
  const { outlay, errors, workspace } = await newOutlay(harness, intermediary.url, { maxBatch: 50 });
  const labels = names(3000);
  let service = harness.services[0];
  intermediary.target = service?.baseUrl;
  const written: string[] = [];
  const write = (until: number) => {
    for (const label of labels.slice(written.length, until)) {
      outlay.record(usage(label));
      written.push(label);
    }
  };
  for (const round of [1, 2, 3]) {
    write(round * 1000 - 500);
    await expect.poll(() => outlay.counts.recorded, { timeout: 30_000 }).toBeGreaterThan((round - 1) * 1000);
    const killed = service?.kill();
    write(round * 1000);
    await killed;
    service = await harness.start();
    intermediary.target = service.baseUrl;
  }
  await outlay.close(60_000);
  expect(errors).toEqual([]);
  expect(outlay.counts).toEqual({ queued: 0, recorded: 3000, refused: 0, dropped: 0 });
  expect(await recordedLabels(harness, workspace)).toEqual(once(labels));
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});
