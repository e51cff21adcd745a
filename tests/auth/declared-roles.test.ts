import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { Fixtures } from "@/tests/helpers/keys";
import { addToWorkspace } from "@/tests/helpers/sql-user";

const roles: WorkspaceRole[] = ["viewer", "member", "admin", "owner"];

const server = withAuthServer();
let fixtures: Fixtures;
const slug = `w-${randomUUID()}`;
const tokens = new Map<WorkspaceRole | "stranger", string>();

beforeAll(async () => {
  fixtures = new Fixtures(server.database.adminUrl);
  const workspace = await fixtures.workspace(slug);
  for (const role of [...roles, "stranger"] as const) {
    const credentials = { email: someEmail(role), password: somePassword };
    const { user, session } = must(await makeClient(server.url, server.key).auth.signUp(credentials));
    tokens.set(role, session?.access_token ?? "");
    if (role === "stranger") continue;
    await addToWorkspace(fixtures, workspace, user?.id ?? "", role);
  }
});
afterAll(() => fixtures?.close());

/** The status of a call of an endpoint that declares a role, and whose service asks for none. */
async function call(declared: WorkspaceRole, caller: WorkspaceRole | "stranger") {
  let ran = false;
  const { POST } = defineRoute({
    POST: endpoint({
      summary: "Do something",
      auth: "user",
      role: declared,
      params: workspaceParams,
      response: z.object({}),
      run: async () => {
        ran = true;
        return {};
      },
    }),
  });
  const request = new Request(`${server.url}/api/v1/workspaces/${slug}/something`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.get(caller)}` },
  });
  const { status } = await POST(request, { params: Promise.resolve({ slug }) });
  return { status, ran };
}

describe.each(roles.slice(1))("An endpoint for %s whose service does not check the role", (declared) => {
  test.each(roles)("Admits %s only with that role or a higher one", async (caller) => {
    const isEnough = roles.indexOf(caller) >= roles.indexOf(declared);
    expect(await call(declared, caller)).toEqual({ status: isEnough ? 200 : 403, ran: isEnough });
  });

  test("Answers 404 to callers who are not members", async () => {
    expect(await call(declared, "stranger")).toEqual({ status: 404, ran: false });
  });
});
