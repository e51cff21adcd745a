import { expect, test } from "vitest";
import { addFactor } from "@/tests/helpers/access/callers";
import { allowing, callTool, openPage, sendForm } from "@/tests/helpers/oauth";
import { refusalOf, slugOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { link, exchange, getCode, harness } = world;

const requireMfa = (slug: string) =>
  harness.fixtures.sql.query("update public.workspaces set require_mfa = true where slug = $1", [slug]);

test("Refuses consent from a session without its second factor", async () => {
  const nonce = (await openPage(world.other, link())).nonce;
  const workspace = await slugOf(world.other);
  await addFactor(harness, world.other.id);
  const refused = await sendForm(world.other, allowing(nonce, { workspace }));
  expect(refused.status).toBe(403);
  expect(refused.location).toBe("");
  expect((await openPage(world.other, link())).nonce).toBeUndefined();
});

test("Ends connections and codes of before when a workspace requires a code, and refuses new ones without it", async () => {
  const code = await getCode();
  const { body } = await exchange(code);
  const baseUrl = world.baseUrl();
  expect((await callTool(baseUrl, body.access_token)).status).toBe(200);
  const pending = await getCode();
  const { nonce } = await openPage(world.browser, link());

  await requireMfa(world.workspace);
  expect((await callTool(baseUrl, body.access_token)).status).toBe(401);
  expect(refusalOf(await exchange(pending))).toBe("400 invalid_grant");
  const answered = await sendForm(world.browser, allowing(nonce, { workspace: world.workspace }));
  expect(answered.location).toBe("/oauth/problem?why=choice");
});
