import { expect, test } from "vitest";
import { addFactor } from "@/tests/helpers/access/callers";
import { allowing, callTool, openPage, sendForm } from "@/tests/helpers/oauth";
import { refusalOf, slugOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { link, exchange, getCode, harness } = world;

const requireMfa = (slug: string) =>
  harness.fixtures.sql.query("update public.workspaces set require_mfa = true where slug = $1", [slug]);

test("A session that has its code still to give lets no program in", async () => {
  const nonce = (await openPage(world.other, link())).nonce;
  const workspace = await slugOf(world.other);
  await addFactor(harness, world.other.id);
  const refused = await sendForm(world.other, allowing(nonce, { workspace }));
  expect(refused.status).toBe(403);
  expect(refused.location).toBe("");
  expect((await openPage(world.other, link())).nonce).toBeUndefined();
});

test("A workspace that begins to require a code ends connections and codes of before; a session without one makes no more", async () => {
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
