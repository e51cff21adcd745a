import { randomUUID } from "node:crypto";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { signUpUser } from "./client";
import type { Harness } from "./harness";

/** A signed-in user, whose calls use their access token. */
export type User = Awaited<ReturnType<typeof signUpUser>>;

/** A workspace with a user of every role, a second member, and a stranger. */
export type Team = {
  workspace: string;
  slug: string;
  /** The path of the workspace's routes. */
  path: string;
  users: Record<WorkspaceRole | "colleague" | "stranger", User>;
};

const roles = {
  owner: "owner",
  admin: "admin",
  member: "member",
  colleague: "member",
  viewer: "viewer",
  stranger: null,
} as const;

/** Makes a team on a harness that has a service. */
export async function makeTeam(harness: Harness): Promise<Team> {
  const slug = `w-${randomUUID()}`;
  const workspace = await harness.fixtures.workspace(slug);
  const people = await Promise.all(
    Object.entries(roles).map(
      async ([name, role]) => [name, await addUser(harness, workspace, role)] as const,
    ),
  );
  const users = Object.fromEntries(people) as Team["users"];
  return { workspace, slug, path: `/api/v1/workspaces/${slug}`, users };
}

/** Signs a user up and, with a role, adds them to a workspace. */
export async function addUser(
  { services, fixtures }: Harness,
  workspace: string,
  role: WorkspaceRole | null,
): Promise<User> {
  const user = await signUpUser(services[0]?.baseUrl ?? "");
  if (role) {
    await fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspace, user.id, role],
    );
  }
  return user;
}
