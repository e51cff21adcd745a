import { describe, expect, test } from "vitest";
import { withCorrectingTeam } from "@/tests/helpers/corrections";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const { team, key, as, undo, correct, recordWith, sums } = withCorrectingTeam(harness);

describe("A correction", () => {
  test("records the new cost with the old one's day, key, source and environment, in one step", async () => {
    const at = "2026-05-04T10:00:00.000+00:00";
    const id = await recordWith({ ...expense(5), occurred_at: at });
    const before = await sums();
    const { status, body } = await correct("admin", id, { ...expense(0.5), vendor: "w" });
    expect(status).toBe(201);
    expect(body).toMatchObject({ voids: id, correction: { amount_usd: 0.5, cost_status: "client" } });
    const made = String((body.correction as { id: string }).id);
    const { body: detail } = await as("viewer").get(`${team.path}/messages/${made}`);
    expect(detail).toMatchObject({
      ...{ corrects: id, source: "api", environment: "live", provider: "w" },
      ...{ key: { id: key.id }, entries: [{ occurred_at: at }] },
    });
    expect(await sums()).not.toEqual(before);
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    // A correction is a message like any other.
    const again = await correct("admin", made, expense(0.75));
    expect(again.body).toMatchObject({ voids: made, correction: { amount_usd: 0.75 } });
    expect((await undo("admin", id)).body).toMatchObject({ error: "conflict", corrected_by: made });
  });

  test("that is refused voids nothing", async () => {
    const id = await recordWith(expense(5));
    const before = await sums();
    const refused = [
      await correct("admin", id, expense(1), { project: "nowhere" }),
      await correct("admin", id, { ...expense(1), currency: "XXX" }),
      await correct("admin", id, { type: "allocation", from_project: "source", amount: 1 }),
      await correct("admin", id, { type: "subscription", vendor: "v", amount: 1, recurring: true }),
      await correct("admin", id, { ...expense(1), occurred_at: "2100-01-01T00:00:00Z" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(Array(5).fill(400));
    expect(refused.map(({ body }) => (body.issues as { path: string }[])[0]?.path)).toEqual([
      "project",
      "message.currency",
      "message.type",
      "message.recurring",
      "message.occurred_at",
    ]);
    expect(await sums()).toEqual(before);
    expect((await as("viewer").get(`${team.path}/messages/${id}`)).body.voided_by).toBeNull();
  });

  test("that is sent again is the same request, in whatever order its members are written", async () => {
    const id = await recordWith(expense(5));
    const send = (tags: object) =>
      correct("admin", id, { ...expense(4), tags }, { idempotency_key: "ordered" });
    const first = await send({ team: "growth", region: "eu" });
    const again = await send({ region: "eu", team: "growth" });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect((await send({ region: "us", team: "growth" })).body.error).toBe("idempotency_conflict");
  });

  test("and a void at the same moment: one of them happens", async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await recordWith(expense(5));
      const answers = await Promise.all([undo("owner", id), correct("admin", id, expense(4))]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    }
  });
});
