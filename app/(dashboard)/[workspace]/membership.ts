import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { readCurrentUser } from "@/lib/access/workspaces/service";

/**
 * Who is looking, and the workspace of the address with their role in it. Nobody in particular is asked to sign in;
 * whoever does not belong there gets the page of an address that does not exist; a member who lacks the second factor that
 * the workspace requires, the page on which to set it up.
 */
export const requireWorkspace = cache(async (slug: string) => {
  // Also asked for by whatever looks for /robots.txt: a dot is in no slug.
  if (!/^[a-z0-9][a-z0-9-]*$/.test(slug)) notFound();
  const claims = await currentUser();
  if (!claims) redirect(`/sign-in?next=${encodeURIComponent(`/${slug}`)}`);
  const { user, profile, workspaces, locked_workspaces: locked } = await readCurrentUser(claims);
  const workspace = workspaces.find((candidate) => candidate.slug === slug);
  if (locked.some((candidate) => candidate.slug === slug))
    redirect(`/workspaces/two-factor?workspace=${slug}`);
  if (!workspace) notFound();
  return { claims, user, profile, workspace, workspaces };
});
