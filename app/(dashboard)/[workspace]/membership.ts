import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { setReader } from "@/components/reader/of-request";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";
import { readerOf } from "./reader";

/**
 * The signed-in user, and the workspace of the address with the user's role. Otherwise it redirects: users who are not
 * signed in to the sign-in page, members without the required second factor to the page that sets it up. Users who are not
 * members get "not found", as for a workspace that does not exist. The figures of the page are then formatted for the user.
 */
export const requireWorkspace = cache(async (slug: string) => {
  // Addresses such as /robots.txt match this route too, but a slug contains no dot.
  if (!/^[a-z0-9][a-z0-9-]*$/.test(slug)) notFound();
  const claims = await currentUser();
  if (!claims) redirect(`/sign-in?next=${encodeURIComponent(`/${slug}`)}`);
  const { user, profile, workspaces, locked_workspaces: locked } = await readCurrentUser(claims);
  const workspace = workspaces.find((candidate) => candidate.slug === slug);
  if (locked.some((candidate) => candidate.slug === slug))
    redirect(`/workspaces/two-factor?workspace=${slug}`);
  if (!workspace) notFound();
  const reader = await readerOf(profile, workspace);
  setReader(reader);
  return { claims, user, profile, workspace, workspaces, reader };
});
