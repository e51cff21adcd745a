import type { ClientBase } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { ConvertedNumber, ExactNumber } from "@/lib/contract/exact-number";
import { dayOf, toInstant } from "@/lib/contract/instant";
import { monthOf } from "@/lib/contract/month";
import type { Project, projectList, UpdateProjectRequest } from "@/lib/contract/projects";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { displayOf } from "@/lib/spend/conversion";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { addDays, countDays, spentWithin } from "@/lib/spend/period";
import {
  type ProjectRow,
  selectProjectDays,
  selectProjectSlugs,
  selectProjects,
  updateProjectRow,
} from "./queries";

/** Lists a workspace's projects with their spend, for its members. @throws ServiceError not_found */
export function listProjects(claims: UserClaims, slug: string): Promise<z.output<typeof projectList>> {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    return { projects: await loadProjects(client, id, now) };
  });
}

/**
 * The slugs of a workspace's projects in order of creation, in the caller's transaction. It is faster than `listProjects`,
 * which sums the spend of all days.
 */
export function loadProjectSlugs(client: ClientBase, workspaceId: string): Promise<string[]> {
  return selectProjectSlugs(client, workspaceId);
}

/** A project's spend of each day of this month up to today, USD as exact text, in their order. */
export type Trends = Record<string, string[]>;

/**
 * Lists a workspace's projects with their spend and its course, for its members, in one snapshot.
 * @param currency in which the month's spend is wanted besides USD; the amounts are ConvertedNumbers then
 * @returns the projects, and for each slug its days; a project without spend this month has none
 * @throws ServiceError not_found
 */
export function listProjectsWithTrends(
  claims: UserClaims,
  slug: string,
  currency?: string,
): Promise<{ projects: Project[]; trends: Trends }> {
  return asUserReading(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug);
    const days = spentWithin(monthOf(now), now);
    const spent = new Map<string, string>();
    const slugs = new Set<string>();
    for (const { slug: project, day, amount } of await selectProjectDays(client, id, days)) {
      spent.set(`${project} ${day}`, amount);
      slugs.add(project);
    }
    const all = Array.from({ length: countDays(days) }, (_, index) => addDays(days.from, index));
    const trends = [...slugs].map((project) => [
      project,
      all.map((day) => spent.get(`${project} ${day}`) ?? "0"),
    ]);
    const projects = await loadProjects(client, id, now, { display: displayOf(currency) });
    return { projects, trends: Object.fromEntries(trends) };
  });
}

/**
 * Renames, archives or restores a project. Archived projects are not offered in selections, but they count in every sum,
 * messages to them are recorded, and recording does not restore them.
 * @throws ServiceError not_found, permission_denied to viewers
 */
export function updateProject(
  claims: UserClaims,
  slug: string,
  projectSlug: string,
  changes: UpdateProjectRequest,
): Promise<Project> {
  return asUser(claims, async (client, now) => {
    const { id } = await requireMembership(client, claims, slug, "member");
    if (!(await updateProjectRow(client, id, projectSlug, changes))) throw notFound();
    const [project] = await loadProjects(client, id, now, { slug: projectSlug });
    if (!project) throw notFound();
    return project;
  });
}

async function loadProjects(
  client: ClientBase,
  workspaceId: string,
  now: number,
  { slug, display }: { slug?: string; display?: Display | undefined } = {},
): Promise<Project[]> {
  const foldedUntil = await selectFoldedUntil(client, workspaceId);
  const days = { ...spentWithin(monthOf(now), now), today: dayOf(now), foldedUntil };
  return (await selectProjects(client, workspaceId, days, slug, display)).map(toProject);
}

function toProject({ month_converted: converted, ...row }: ProjectRow): Project {
  return {
    ...row,
    archived_at: row.archived_at && toInstant(row.archived_at.getTime()),
    created_at: toInstant(row.created_at.getTime()),
    month_usd:
      converted === null ? new ExactNumber(row.month_usd) : new ConvertedNumber(row.month_usd, converted),
    month_message_count: Number(row.month_message_count),
    message_count: Number(row.message_count),
  };
}
