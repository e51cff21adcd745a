import { beforeAll, describe, expect, test } from "vitest";
import { codeOf, type Key, manageKeys } from "@/tests/helpers/api-keys";
import { costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();

let team: Team;
beforeAll(async () => {
  team = await makeTeam(harness);
});

const { keys, created, edit, listed, using } = manageKeys(
  () => team,
  () => harness.services[0]?.baseUrl ?? "",
);

describe("Rotating and revoking a key", () => {
  const rotate = (id: string) => team.users.owner.call("POST", `${keys()}/${id}/rotate`);
  const revoke = (id: string) => team.users.owner.call("DELETE", `${keys()}/${id}`);

  test("Changes only the secret on rotation", async () => {
    const { secret, prefix, last_four, ...key } = await created({
      monthly_limit: 5,
      conditions: { sources: ["api"] },
    });
    const answer = await rotate(key.id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { secret: next, ...rotated } = answer.body as Key;
    expect(next).not.toBe(secret);
    expect(rotated).toEqual({
      ...key,
      prefix: next.slice(0, 13),
      last_four: next.slice(-4),
      rotated_at: expect.any(String),
    });
    expect(codeOf(await using({ secret }).post(costMessage()))).toBe("401 invalid_credentials");
    expect((await using({ secret: next }).post(costMessage())).status).toBe(201);
  });

  test("Rotates an expired key, which stays expired", async () => {
    const key = await created();
    await harness.fixtures.sql.query("update public.api_keys set expires_at = '2020-01-01' where id = $1", [
      key.id,
    ]);
    expect((await rotate(key.id)).body).toMatchObject({ status: "expired", secret: expect.any(String) });
  });

  test("Keeps a revoked key in the list, and refuses to edit, rotate or restore it", async () => {
    const key = await created();
    const revoked = await revoke(key.id);
    expect(revoked.status).toBe(200);
    expect(revoked.body).toMatchObject({
      status: "revoked",
      can_edit: false,
      revoked_at: expect.any(String),
    });
    expect(codeOf(await using(key).post(costMessage()))).toBe("401 key_revoked");
    const { last_used_at: _, ...again } = (await revoke(key.id)).body;
    expect(revoked.body).toMatchObject(again);
    expect(await listed(key.id)).toMatchObject({ status: "revoked", revoked_at: revoked.body.revoked_at });
    expect(codeOf(await edit(key.id, { name: "Back" }))).toBe("409 conflict");
    expect(codeOf(await edit(key.id, { revoked_at: null }))).toBe("400 validation_failed");
    expect(codeOf(await rotate(key.id))).toBe("409 conflict");
  });
});
