import { describe, expect, test } from "vitest";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { exportPoints, exportSpans } from "@/tests/helpers/otlp";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeamSource } from "@/tests/helpers/sources";
import { uniqueCalls } from "@/tests/helpers/unique-calls";

// What a source's key may not record: it is kept with its reason, and can be sent again.

const harness = withSharedHarness();

const onlyCheckout = { conditions: { project_slugs: ["checkout", "search"] } };

describe("What is refused", () => {
  test("Is listed with its reason and an example, and is recorded once when it is sent again", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const refused = exportSpans(uniqueCalls(3, { project: "payroll", feature: "pay" }));
    await source.accept(refused);
    const before = await source.until(({ kept }) => kept.records === 3);
    expect(before).toMatchObject({
      refused: 3,
      kept: { exports: 1, records: 3 },
      refusals: [
        {
          code: "project_not_allowed",
          description: "This API key may not use the project payroll.",
          count: 3,
          example: { emitter: "opentelemetry", project: "payroll", feature: "pay", model: "gpt-4o" },
        },
      ],
    });
    // By the same conditions it is refused again, and stays.
    expect((await source.replay()).body).toMatchObject({
      sent: 3,
      recorded: 0,
      refused: 3,
      reasons: [{ code: "project_not_allowed", count: 3 }],
    });
    await source.edit({ conditions: { project_slugs: ["checkout", "payroll"] } });
    const answers = await Promise.all([source.replay(), source.replay(), source.replay()]);
    const recorded = answers.reduce((sum, { body }) => sum + Number(body.recorded), 0);
    expect(recorded).toBe(3);
    // The program retries the same export too. That records nothing twice.
    await source.accept(refused);
    expect(await source.messages()).toHaveLength(3);
    expect((await source.messages())[0]).toMatchObject({ project: "payroll", feature: "pay" });
    expect((await source.replay()).body).toMatchObject({ sent: 0, recorded: 0 });
    const after = await source.until(({ arrivals }) => arrivals[0]?.recorded === 3);
    expect(after.kept).toEqual({ exports: 0, records: 0, last_at: null });
    expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
  });

  test("Is sent again by the settings of then", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    await source.accept(
      exportSpans(uniqueCalls(1, { project: "payroll", "vcs.repository.name": "checkout" })),
    );
    await source.until(({ kept }) => kept.records === 1);
    await source.configure({ project_attribute: "vcs.repository.name" });
    expect((await source.replay()).body).toMatchObject({ recorded: 1 });
    expect(await source.messages()).toMatchObject([{ project: "checkout" }]);
  });

  test("Keeps of a monthly limit what is recorded when the limit is raised", async () => {
    const source = await makeTeamSource(harness, { monthly_limit: "0.000001" });
    await source.accept(exportSpans(uniqueCalls(4)));
    const { refusals } = await source.until(({ kept }) => kept.records === 4);
    expect(refusals).toMatchObject([{ code: "monthly_limit_exceeded", count: 4 }]);
    const refused = async () =>
      (
        await harness.fixtures.sql.query(
          `select sum(message_count)::int as count, sum(amount_usd) > 0 as some from public.refused_spend where workspace_id = $1`,
          [source.workspace],
        )
      ).rows;
    expect(await refused()).toEqual([{ count: 4, some: true }]);
    await source.edit({ monthly_limit: 10 });
    expect((await source.replay()).body).toMatchObject({ recorded: 4 });
    expect(await refused()).toEqual([{ count: 0, some: false }]);
  });

  test("Counts a running total once that grew meanwhile", async () => {
    const source = await makeTeamSource(harness, onlyCheckout);
    const now = Math.floor(Date.now() / 1000);
    const total = (value: number, time: number) =>
      exportPoints([{ start: now - 100, time: now - 100 + time, value }]);
    await source.accept(total(100, 10));
    await source.until(({ kept }) => kept.records === 1);
    await source.edit({ conditions: { project_slugs: ["shop", "search"] } });
    await source.accept(total(150, 20));
    expect((await source.replay()).body).toMatchObject({ sent: 1, recorded: 0, skipped: 1, refused: 0 });
    expect(await source.recorded()).toEqual({ input_tokens: 150 });
  });

  test("Counts the growth of a total that a limit refused", async () => {
    const source = await makeTeamSource(harness, { monthly_limit: "0.000001" });
    const now = Math.floor(Date.now() / 1000);
    await source.accept(exportPoints([{ start: now - 100, time: now - 90, value: 100 }]));
    await source.until(({ kept }) => kept.records === 1);
    await source.edit({ monthly_limit: 10 });
    await source.accept(exportPoints([{ start: now - 100, time: now - 80, value: 150 }]));
    expect((await source.replay()).body).toMatchObject({ recorded: 1 });
    expect(await source.recorded()).toEqual({ input_tokens: 150 });
  });

  test("Counts records that cannot be read as records, not as requests", async () => {
    const source = await makeTeamSource(harness);
    const broken = { "gen_ai.usage.input_tokens": "10.5" };
    await source.accept(
      exportSpans(uniqueCalls(2).map((span) => ({ ...span, attributes: { ...span.attributes, ...broken } }))),
    );
    const { refusals } = await source.until(({ refusals: all }) => all.length === 1);
    expect(refusals).toMatchObject([{ code: "validation_failed", count: 2, example: {} }]);
  });

  test("Names whole requests that were refused, without what they carried", async () => {
    const source = await makeTeamSource(harness, { allowed_cidrs: ["203.0.113.0/24"] });
    expect((await source.send(exportSpans(uniqueCalls(2)))).status).toBe(403);
    const { refusals, kept } = await source.until(({ refusals: all }) => all.length === 1);
    expect(refusals).toMatchObject([{ code: "ip_not_allowed", count: 1, example: null }]);
    expect(kept.records).toBe(0);
  });
});
