import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { cache } from "react";
import { setReader } from "@/components/reader/of-request";
import type { Reader } from "@/components/reader/reader";
import { currentUser } from "@/lib/access/sign-in/page-session";
import type { CurrentUser, Membership } from "@/lib/contract/access/me";
import { dayOf } from "@/lib/contract/values/instant";
import { acceptedLocale } from "@/lib/contract/values/locales";
import { ServiceError } from "@/lib/errors";
import { latestDisplayRate } from "@/lib/ledger/pricing/display-currency";
import { followPublished } from "@/lib/ledger/published/follow";
import { readKeptUser } from "../kept-user";

/**
 * Returns the signed-in user, and the workspace of the address with the user's role, and sets the user as the page's reader, for whom
 * figures are formatted. Redirects users who are not signed in to the sign-in page, members without the required second factor to
 * the page that sets it up, and members of a deleted workspace to the page that restores it. Users who are not members get "not
 * found", as for a workspace that does not exist.
 */
export const requireWorkspace = cache(async (slug: string) => {
  // Addresses such as /robots.txt match this route too, but a slug contains no dot.
  if (!/^[a-z0-9][a-z0-9-]*$/.test(slug)) notFound();
  const claims = await currentUser();
  if (!claims) redirect(`/sign-in?next=${encodeURIComponent(`/${slug}`)}`);
  const {
    user,
    profile,
    workspaces,
    locked_workspaces: locked,
    deleted_workspaces: deleted,
  } = await readKeptUser(claims);
  const workspace = workspaces.find((candidate) => candidate.slug === slug);
  if (locked.some((candidate) => candidate.slug === slug))
    redirect(`/workspaces/two-factor?workspace=${slug}`);
  if (deleted.some((candidate) => candidate.slug === slug)) redirect(`/workspaces/deleted?workspace=${slug}`);
  if (!workspace) notFound();
  const reader = await readerOf(profile, workspace);
  setReader(reader);
  return { claims, user, profile, workspace, workspaces, reader, hasDeleted: deleted.length > 0 };
});

/**
 * Redirects to the page that restores a workspace if a read of a page finds the workspace deleted after `requireWorkspace`, for
 * example while the page is rendered again after its owner proved their identity:
 * `read(claims, slug).catch(openIfDeleted(slug))`. Rethrows other errors.
 */
export const openIfDeleted =
  (slug: string) =>
  (error: unknown): never => {
    if (error instanceof ServiceError && error.code === "workspace_deleted")
      redirect(`/workspaces/deleted?workspace=${slug}`);
    throw error;
  };

/**
 * The reader of a workspace's page: locale and currency from their profile, by default the browser's locale and USD, and the time
 * zone of the workspace.
 */
async function readerOf(profile: CurrentUser["profile"], workspace: Membership): Promise<Reader> {
  const locale = profile.locale ?? acceptedLocale((await headers()).get("Accept-Language"));
  const { base_currency: currency } = workspace;
  if (profile.shown_currency !== "usd") await followPublished();
  const rate = profile.shown_currency === "usd" ? undefined : latestDisplayRate(currency, dayOf(Date.now()));
  return {
    locale,
    timeZone: workspace.time_zone,
    display: rate ? { currency, besideUsd: profile.shown_currency === "both", ...rate } : null,
  };
}
