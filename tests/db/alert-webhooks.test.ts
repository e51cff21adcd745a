import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import {
  addChannel,
  deliveriesOf,
  passTheWait,
  type Receiver,
  signingSecret,
  status,
} from "@/tests/helpers/alerts";
import { type OpenDeliveries, withDeliveries } from "@/tests/helpers/deliveries";

// What a webhook sends, how it is signed, and where it does not go.

let fixtures: OpenDeliveries["fixtures"];
let workspace: string;
let receiver: Receiver;
let world: OpenDeliveries["world"];

const { work, raiseLevels } = withDeliveries((open) => {
  ({ fixtures, workspace, receiver, world } = open);
});

const channel = () =>
  addChannel(fixtures, workspace, { address: "https://receiver.example/hooks/T0PSECRET" });

describe("A webhook", () => {
  test("Arrives with its figures, links and a signature that Standard Webhooks verify", async () => {
    const id = await channel();
    await raiseLevels("80");
    await work();
    const [{ headers, body, path }] = receiver.received as [Receiver["received"][0]];
    const payload = new Webhook(signingSecret).verify(body, headers) as Record<string, unknown>;
    const [delivery] = await deliveriesOf(fixtures, id);
    expect(path).toBe("/hooks/T0PSECRET");
    expect(headers["webhook-id"]).toBe(delivery.id);
    expect(payload).toMatchObject({
      type: "alert.fired",
      data: {
        rule: "budget_threshold",
        level: "80",
        subject: { type: "budget", name: "Everything" },
        period: { from: "2026-11-01", until: "2026-12-01" },
        figures: { scope_type: "global", scope_value: null, amount_usd: "100", spent_usd: "80.01" },
        url: expect.stringContaining("/budgets#budget-0193a0f7"),
        activity_url: expect.stringContaining("from=2026-11-01&to=2026-11-30"),
      },
    });
    expect(delivery).toMatchObject({ state: "delivered", attempts: 1, last_status: 204, lease: null });
  });

  test("Is signed by the old and the new secret while one is being rotated, and by the new one after that", async () => {
    const id = await channel();
    const next = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    await fixtures.sql.query(
      `update private.channel_secrets set old_signing_secret = signing_secret, signing_secret = $2,
         old_ends_at = now() + interval '1 day' where channel_id = $1`,
      [id, next],
    );
    await raiseLevels("80");
    await work();
    await fixtures.sql.query("update private.channel_secrets set old_ends_at = now() where channel_id = $1", [
      id,
    ]);
    await raiseLevels("100");
    await work();
    const verifies = (secret: string) =>
      receiver.received.map(({ body, headers }) => {
        try {
          new Webhook(secret).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
    expect([verifies(signingSecret), verifies(next)]).toEqual([
      [true, false],
      [true, true],
    ]);
  });
});

describe("An internal address", () => {
  test.each(["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"])(
    "Is refused at any attempt at which the host resolves to it: %s",
    async (inside) => {
      const id = await channel();
      receiver.answer = status(500);
      await raiseLevels("80");
      await work();
      expect(receiver.received).toHaveLength(1);
      world.resolve = async () => [inside];
      await passTheWait(fixtures, id);
      await work();
      world.resolve = async () => ["93.184.215.14", inside];
      await passTheWait(fixtures, id);
      await work();
      expect([receiver.received.length, world.asked.length]).toEqual([1, 1]);
      const [{ last_error: error, attempts }] = await deliveriesOf(fixtures, id);
      expect([attempts, error]).toEqual([3, expect.stringContaining("an address that is not public")]);
      expect(error).not.toContain(inside);
    },
  );

  test("Is not reached by a redirect", async () => {
    const id = await channel();
    receiver.answer = (_, response) =>
      void response.writeHead(307, { location: "http://127.0.0.1:1/internal" }).end();
    await raiseLevels("80");
    await work();
    expect(world.asked).toEqual(["receiver.example"]);
    expect(await deliveriesOf(fixtures, id)).toMatchObject([
      {
        state: "pending",
        last_status: 307,
        last_error: expect.stringContaining("a redirect, which is not followed"),
      },
    ]);
  });
});
