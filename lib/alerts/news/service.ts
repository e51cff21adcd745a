import type { PoolClient } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { severityOf } from "@/lib/alerts/alert";
import { linksOf } from "@/lib/alerts/links";
import { wordsOf } from "@/lib/alerts/words";
import {
  type AlertNews,
  maxUnread,
  newestAlerts,
  type SeenAlertsRequest,
} from "@/lib/contract/alerts/alert-news";
import { toInstant } from "@/lib/contract/values/instant";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import { countUnseen, recordSeen, selectNewest } from "./news-queries";

/** Reads the newest alerts of a workspace in words, and how many the user has not seen. @throws ServiceError not_found */
export function readNews(claims: UserClaims, slug: string): Promise<AlertNews> {
  return asUserReading(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    return loadNews(client, claims, workspace);
  });
}

/**
 * Marks an alert and all before it as seen by the user. Alerts that fired after the user loaded the list stay unseen.
 * @throws ServiceError not_found if the workspace has no such alert
 */
export function markSeen(claims: UserClaims, slug: string, request: SeenAlertsRequest): Promise<AlertNews> {
  return asUser(claims, async (client) => {
    const workspace = await requireMembership(client, claims, slug);
    if (!(await recordSeen(client, workspace.id, request.alert_id))) throw notFound();
    return loadNews(client, claims, workspace);
  });
}

async function loadNews(
  client: PoolClient,
  { sub }: UserClaims,
  { id, slug }: { id: string; slug: string },
): Promise<AlertNews> {
  const rows = await selectNewest(client, id, sub, newestAlerts);
  return {
    unread: await countUnseen(client, id, sub, maxUnread),
    newest: rows.map(({ is_unread, fired_at, ...row }) => {
      const alert = { ...row, fired_at: toInstant(fired_at.getTime()) };
      const { title, text } = wordsOf(alert);
      const [page] = linksOf(alert, slug, "");
      return {
        id: alert.id,
        title,
        text,
        state: alert.state,
        severity: severityOf(alert),
        fired_at: alert.fired_at,
        is_unread,
        path: page?.url ?? `/${slug}/alerts`,
      };
    }),
  };
}
