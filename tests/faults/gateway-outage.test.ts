import { expect, test } from "vitest";
import { liteLlmCall, makeGateway } from "@/tests/helpers/gateways";
import { withHarness } from "@/tests/helpers/harness";

const harness = withHarness({ settings: { LOG_LEVEL: "silent" } });

test.each([
  ["all calls", ""],
  ["one call", "when (new.model = 'gpt-4o')"],
])(
  "A delivery of which the database refuses %s gets 503 with Retry-After, and counts once when it comes again",
  async (_, only) => {
    const gateway = await makeGateway(harness);
    const delivery = [liteLlmCall(), liteLlmCall({ model: "gpt-4o" })];
    await harness.fixtures.sql.query(`
    create or replace function public.fill_disk() returns trigger language plpgsql as $$
    begin raise exception 'No space left on device' using errcode = '53100'; end $$;
    create trigger no_room before insert on public.messages for each row ${only} execute function public.fill_disk()`);
    const failed = await gateway.deliver("litellm", delivery);
    await harness.fixtures.sql.query("drop trigger no_room on public.messages");
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
