import { expect, test } from "vitest";
import { fillDisk } from "@/tests/helpers/block";
import { liteLlmCall, makeGateway } from "@/tests/helpers/gateways";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

test.each([
  ["all calls", undefined],
  ["one call", "new.model = 'gpt-4o'"],
])(
  "A delivery of which the database refuses %s gets 503 with Retry-After, and counts once when it comes again",
  async (_, only) => {
    const gateway = await makeGateway(harness);
    const delivery = [liteLlmCall(), liteLlmCall({ model: "gpt-4o" })];
    const makeRoom = await fillDisk(harness.fixtures.sql, only);
    const failed = await gateway.deliver("litellm", delivery);
    await makeRoom();
    expect([failed.status, failed.body.error]).toEqual([503, "unavailable"]);
    expect(Number(failed.headers.get("retry-after"))).toBeGreaterThan(0);
    for (let time = 0; time < 2; time += 1) {
      const { body } = await gateway.deliver("litellm", delivery);
      expect([body.recorded, body.refused]).toEqual([2, 0]);
    }
    expect(await gateway.recorded()).toEqual({
      cache_read_tokens: 2000,
      input_tokens: 400,
      output_tokens: 68,
    });
  },
);
