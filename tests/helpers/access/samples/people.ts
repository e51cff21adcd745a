import { randomUUID } from "node:crypto";
import { apiClient } from "@/tests/helpers/client";
import { addUser } from "@/tests/helpers/team";
import type { Caller, World } from "../callers";
import { deleted } from "../deleted";
import { nothing, type Sample, type Samples } from "../sample";

/** The caller's own id, if they are a member. */
const userOf = (world: World, caller: Caller) => world.users[caller as keyof World["users"]];

/** The address in a caller's token; of callers without one, any. */
function emailOf(credential: string | null): string {
  const [, payload = ""] = (credential ?? "").split(".");
  const claims = Buffer.from(payload, "base64url").toString();
  return claims.startsWith("{") ? String(JSON.parse(claims).email) : "nobody@example.com";
}

async function invite(world: World, slug: string, token: string) {
  const { body } = await apiClient(world.baseUrl, token).call(
    "POST",
    `/api/v1/workspaces/${slug}/invitations`,
    {
      role: "viewer",
    },
  );
  return body as { invitation: { id: string }; link: string };
}

async function invitationOf(world: World): Promise<Sample> {
  const { invitation } = await invite(world, world.workspace.slug, world.users.owner.token);
  return { params: { id: invitation.id } };
}

/** An invitation to another workspace, so that accepting it changes nothing in this one. */
async function offer(world: World): Promise<Sample> {
  const slug = `w-${randomUUID()}`;
  const host = await addUser(world.harness, await world.harness.fixtures.workspace(slug), "owner");
  const { link } = await invite(world, slug, host.token);
  return { params: { token: link.slice(link.lastIndexOf("/") + 1) } };
}

/** Members and viewers may remove only themselves; admins and owners others too. */
async function leaver(world: World, caller: Caller): Promise<Sample> {
  const { id: workspaceId } = world.workspace;
  if (caller !== "viewer" && caller !== "member") {
    return { params: { user_id: (await addUser(world.harness, workspaceId, "viewer")).id } };
  }
  const { id } = userOf(world, caller);
  const restore = async () => {
    await world.harness.fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspaceId, id, caller],
    );
  };
  return { params: { user_id: id }, restore };
}

/** Members, workspaces and invitations. */
export const peopleSamples: Samples = {
  "GET /api/v1/workspaces/[slug]/people/erasures": nothing,
  "POST /api/v1/workspaces/[slug]/people/erasures/preview": () => ({ body: { user: "nobody" } }),
  "POST /api/v1/workspaces/[slug]/people/erasures": () => ({ body: { user: "nobody" } }),
  "GET /api/v1/me": nothing,
  "POST /api/v1/me/deletion": (world, caller) => {
    const { sql } = world.harness.fixtures;
    const email = userOf(world, caller)?.email ?? emailOf(world.credentials[caller]);
    const restore = async () => {
      await sql.query(
        `with kept as (update public.profiles set deleted_at = null where email = $1)
         update public.workspaces set deleted_at = null, deleted_by = null,
           prices_version = prices_version + private.deletion_mark()
         where deleted_by = (select id from public.profiles where email = $1)`,
        [email],
      );
    };
    return { body: { email }, restore };
  },
  "GET /api/v1/me/export": nothing,
  "PATCH /api/v1/me": () => ({ body: { display_name: "Ada" } }),
  "POST /api/v1/workspaces": () => ({ body: { name: `Team ${randomUUID()}` } }),
  "PATCH /api/v1/workspaces/[slug]": () => ({ body: { description: "All we spend." } }),
  "POST /api/v1/workspaces/[slug]/deletion": async (world) => {
    const { sql } = world.harness.fixtures;
    const { rows } = await sql.query("select name from public.workspaces where id = $1", [
      world.workspace.id,
    ]);
    const owner = apiClient(world.baseUrl, world.users.owner.token);
    const restore = async () => {
      await owner.call("DELETE", `/api/v1/workspaces/${world.workspace.slug}/deletion`);
    };
    return { body: { name: rows[0].name }, restore };
  },
  "DELETE /api/v1/workspaces/[slug]/deletion": nothing,
  "GET /api/v1/workspaces/[slug]/archive": nothing,
  "GET /api/v1/workspaces/[slug]/org": nothing,
  "GET /api/v1/workspaces/[slug]/audit": nothing,
  "GET /api/v1/workspaces/[slug]/projects": nothing,
  "PATCH /api/v1/workspaces/[slug]/projects/[project]": async (world) => {
    const project = `p-${randomUUID()}`;
    await world.harness.fixtures.project(world.workspace.id, project);
    return { params: { project }, body: { archived: true } };
  },
  "PATCH /api/v1/workspaces/[slug]/members/[user_id]": async (world) => ({
    params: { user_id: (await addUser(world.harness, world.workspace.id, "viewer")).id },
    body: { role: "member" },
  }),
  "DELETE /api/v1/workspaces/[slug]/members/[user_id]": leaver,
  "POST /api/v1/workspaces/[slug]/transfer": async (world, caller) => {
    const heir = await addUser(world.harness, world.workspace.id, "member");
    const restore = async () => {
      await world.harness.fixtures.sql.query(
        "update public.workspace_members set role = 'owner' where workspace_id = $1 and user_id = $2",
        [world.workspace.id, userOf(world, caller).id],
      );
    };
    return { body: { user_id: heir.id }, restore };
  },
  "GET /api/v1/workspaces/[slug]/invitations": nothing,
  "POST /api/v1/workspaces/[slug]/invitations": () => ({ body: { role: "viewer" } }),
  "DELETE /api/v1/workspaces/[slug]/invitations/[id]": invitationOf,
  "POST /api/v1/workspaces/[slug]/invitations/[id]/restore": async (world) =>
    deleted(world, "invitations", await invitationOf(world)),
  "GET /api/v1/invitations/[token]": offer,
  "POST /api/v1/invitations/[token]/accept": offer,
};
