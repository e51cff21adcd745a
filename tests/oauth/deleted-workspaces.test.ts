import { expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { authorizeUrl, callTool, connect, makePkce, openPage, refresh } from "@/tests/helpers/oauth";
import { refusalOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { baseUrl } = world;

test("Refuses tokens of a deleted workspace without using them up, and takes them again after an undo", async () => {
  const pair = await connect(world.browser, { workspace: world.workspace }, world.clientId);
  const owner = apiClient(baseUrl(), world.browser.token);
  const path = `/api/v1/workspaces/${world.workspace}`;
  const { body } = await owner.get(`${path}/org`);
  const { name } = body.workspace as { name: string };
  expect((await owner.call("POST", `${path}/deletion`, { name })).status).toBe(200);

  const refused = await callTool(baseUrl(), pair.access);
  expect([refused.status, refused.body]).toEqual([
    403,
    expect.objectContaining({ error: "workspace_deleted" }),
  ]);
  expect(refusalOf(await refresh(baseUrl(), world.clientId, pair.refresh))).toBe("400 invalid_grant");
  const page = await openPage(
    world.browser,
    authorizeUrl(baseUrl(), world.clientId, makePkce().challenge, { resource: world.browser.resource }),
  );
  expect(page.html).not.toContain(`value="${world.workspace}"`);

  expect((await owner.call("DELETE", `${path}/deletion`)).status).toBe(200);
  expect((await callTool(baseUrl(), pair.access)).status).toBe(200);
  expect((await refresh(baseUrl(), world.clientId, pair.refresh)).status).toBe(200);
});
