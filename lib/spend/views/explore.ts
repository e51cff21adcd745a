import { requireMembership } from "@/lib/access/workspaces/membership";
import type { SpendQuery } from "@/lib/contract/spend-query";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { loadAnswer, loadTagNames } from "@/lib/spend/explore/service";
import { loadProjectSlugs } from "@/lib/spend/projects/service";
import { loadViews } from "@/lib/spend/saved-views/service";

/**
 * The content of the Explore page, read in one snapshot: the answer, the views that the user may open, the names of the workspace's tags, and the slugs of all
 * projects in order of creation.
 * @throws ServiceError not_found, validation_failed, query_too_broad
 */
export function readExplore(claims: UserClaims, slug: string, query: SpendQuery) {
  return asUserReading(claims, async (client, now) => {
    const { id, role } = await requireMembership(client, claims, slug);
    return {
      views: await loadViews(client, { workspaceId: id, role, userId: claims.sub }),
      answer: await loadAnswer(client, { workspaceId: id, isKey: false, isOfUsers: false }, query, now),
      tags: await loadTagNames(client, id),
      projectOrder: await loadProjectSlugs(client, id),
    };
  });
}
