import { describe, expect, test } from "vitest";
import type { LimitableProvider } from "@/lib/contract/bills/limit-kinds";
import { limitedBudgets } from "@/tests/helpers/limited-budgets";
import { withProviders } from "@/tests/helpers/with-providers";

// What happens when someone changes at a provider a limit that follows a budget.

const { withBudget, atEach } = limitedBudgets(withProviders());
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

describe("A budget's limit at each provider", () => {
  test("that someone changes there is named, written again or accepted", () =>
    atEach(async (provider, team) => {
      const made = await withBudget(provider, {}, team);
      const { linked, settled, resolve, limits, thing, held, alerts } = made;
      await linked();
      await settled();
      limits.set(thing.kind, thing.id, "300", "month");
      await resolve("check");
      expect(await settled()).toMatchObject({ state: "drift", limit_usd: 500, held: { limit_usd: 300 } });
      expect(held()).toEqual(["300 a month"]);
      expect(await alerts()).toEqual(["provider_limit warning"]);
      await resolve("write");
      expect(await settled()).toMatchObject({ state: "equal", held: { limit_usd: 500 } });
      expect(await alerts()).toEqual(["provider_limit warning", "provider_limit ok"]);
      limits.set(thing.kind, thing.id, "700", "month");
      await resolve("check");
      expect(await settled()).toMatchObject({ state: "drift" });
      expect((await resolve("accept")).status).toBe(202);
      expect(await settled()).toMatchObject({ state: "equal", limit_usd: 700, written_usd: 700 });
      expect(held()).toEqual(["700 a month"]);
    }));

  test.each<[LimitableProvider, string, boolean, RegExp]>([
    ["openrouter", "day", true, /resets otherwise/],
    ["anthropic", "month", false, /or only alerts/],
    ["github", "month", false, /or only alerts/],
  ])(
    "that is as high at %s but of a %s, or does not stop calls (%s), differs, and no budget takes it",
    async (provider, period, stops, problem) => {
      const { linked, settled, resolve, limits, thing, held } = await withBudget(provider);
      await linked();
      await settled();
      limits.set(thing.kind, thing.id, "500", period, stops);
      await resolve("check");
      expect(await settled()).toMatchObject({ state: "drift", held: { limit_usd: 500, period, stops } });
      expect(await resolve("accept")).toMatchObject({
        status: 409,
        body: { error_description: expect.stringMatching(problem) },
      });
      await resolve("write");
      expect(await settled()).toMatchObject({ state: "equal" });
      expect([held(), limits.held[0]?.stops]).toEqual([["500 a month"], true]);
    },
  );

  test.each<[string, object, object, RegExp]>([
    ["has a raise", {}, { raise: { amount: 800, until: tomorrow() } }, /has a raise/],
    ["is in euros", { currency: "EUR" }, {}, /is in EUR/],
  ])("is not taken by a budget that %s", async (_, budget, changes, problem) => {
    const { linked, settled, resolve, limits, thing, edit } = await withBudget("openai", budget);
    await linked();
    await settled();
    expect((await edit(changes)).status).toBe(200);
    await settled();
    limits.set(thing.kind, thing.id, "300", "month");
    await resolve("check");
    const before = await settled();
    expect(before).toMatchObject({ state: "drift" });
    expect(await resolve("accept")).toMatchObject({
      status: 409,
      body: { error_description: expect.stringMatching(problem) },
    });
    expect(await settled()).toMatchObject({ state: "drift", limit_usd: before?.limit_usd });
  });
});
