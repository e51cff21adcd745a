import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { StatusSchema } from "@/lib/sources/otlp/proto/google/rpc/status_pb";
import { fillDisk } from "@/tests/helpers/block";
import { exportPoints, readCapture } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

test("An export that cannot be stored gets 503 with Retry-After, and counts once when it comes again", async () => {
  const at = 1_795_303_000;
  const total = (time: number, value: number) => exportPoints([{ start: at, time: at + time, value }]);
  const [calls, sums] = [await makeSource(harness), await makeSource(harness)];
  await sums.accept(total(60, 100));
  const makeRoom = await fillDisk(harness.fixtures.sql);
  const spans = readCapture("ai-sdk-traces");
  for (const response of [
    await calls.send(spans, { encoding: "protobuf" }),
    await sums.send(total(120, 150), { encoding: "protobuf" }),
  ]) {
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(fromBinary(StatusSchema, new Uint8Array(await response.arrayBuffer()))).toMatchObject({
      code: 14,
      message: expect.stringMatching(/^unavailable: /),
    });
  }
  await makeRoom();
  await calls.accept(spans, { encoding: "protobuf" });
  await calls.accept(spans, { encoding: "protobuf" });
  expect(await calls.messages()).toHaveLength(4);
  // The exporter gave up on the total of 150, and sends a later one.
  await sums.accept(total(180, 160), { encoding: "protobuf" });
  expect(await sums.recorded()).toEqual({ input_tokens: 160 });
});
