import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { wordAlert } from "@/lib/alerts/kinds/wording";
import { type AlertNews, maxUnread, newestAlerts, type SeenAlertsRequest } from "@/lib/contract/alert-news";
import { toInstant } from "@/lib/contract/instant";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import { countUnseen, noteSeen, selectNewest } from "./queries";

/** Reads the newest alerts of a workspace in words, and how many its reader has not seen. @throws ServiceError not_found */
export function readNews(claims: UserClaims, slug: string): Promise<AlertNews> {
  return asUserReading(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    return loadNews(client, claims, workspace);
  });
}

/**
 * Notes that the reader has seen an alert and all before it. What has fired since the reader loaded the list stays unread.
 * @throws ServiceError not_found where the workspace has no such alert
 */
export function markSeen(claims: UserClaims, slug: string, request: SeenAlertsRequest): Promise<AlertNews> {
  return asUser(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    if (!(await noteSeen(client, workspace.id, request.alert_id))) throw notFound();
    return loadNews(client, claims, workspace);
  });
}

async function loadNews(
  client: PoolClient,
  { sub }: UserClaims,
  { id, slug, name }: { id: string; slug: string; name: string },
): Promise<AlertNews> {
  const rows = await selectNewest(client, id, sub, newestAlerts);
  return {
    unread: await countUnseen(client, id, sub, maxUnread),
    newest: rows.map(({ is_unread, fired_at, ...row }) => {
      const firedAt = toInstant(fired_at.getTime());
      const { title, text, severity, links } = wordAlert({ ...row, fired_at: firedAt }, { slug, name }, "");
      return {
        id: row.id,
        title,
        text,
        severity: severity === "test" ? "info" : severity,
        fired_at: firedAt,
        is_unread,
        path: links[0]?.url ?? `/${slug}/alerts`,
      };
    }),
  };
}
