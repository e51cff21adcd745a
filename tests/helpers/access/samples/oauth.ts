import type { WorkspaceRole } from "@/lib/contract/access/me";
import { members, type World } from "../callers";
import { nothing, type Samples } from "../sample";

/** A connection of the caller's own if they are a member, otherwise one of the owner's. @returns its id */
async function makeConnection({ harness, workspace, users }: World, caller: string): Promise<string> {
  const role = members.find((each) => each === caller) ?? ("owner" satisfies WorkspaceRole);
  const { rows } = await harness.fixtures.sql.query(
    `with client as (
       insert into private.oauth_clients (id, kind, name, redirect_uris)
       values ('svc_client_' || gen_random_uuid(), 'registered', 'Assistant', array['http://127.0.0.1/callback'])
       returning *
     ), key as (
       insert into public.api_keys (workspace_id, name, prefix, last_four, kind, permissions, created_by)
       values ($1, 'Assistant', 'svc_at_', 'none', 'connection', array['read_summaries'], $2)
       returning id
     )
     insert into public.connections (workspace_id, id, user_id, client_id, client_kind, client_name, redirect_uri)
     select $1, key.id, $2, client.id, client.kind, client.name, client.redirect_uris[1] from client, key
     returning id`,
    [workspace.id, users[role].id],
  );
  return rows[0].id;
}

/** The connections of a workspace, and the metadata by which programs find the authorization server. */
export const oauthSamples: Samples = {
  "GET /api/v1/workspaces/[slug]/connections": nothing,
  "DELETE /api/v1/workspaces/[slug]/connections/[id]": async (world, caller) => ({
    params: { id: await makeConnection(world, caller) },
  }),
  "GET /.well-known/oauth-authorization-server": nothing,
  "GET /.well-known/oauth-protected-resource": nothing,
  "GET /api/mcp/.well-known/oauth-protected-resource": nothing,
};
