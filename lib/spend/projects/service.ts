import type { ClientBase } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import type { Project, projectList, UpdateProjectRequest } from "@/lib/contract/spend/projects";
import type { ChangesOfProjects } from "@/lib/contract/spend/subjects";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { ConvertedNumber, ExactNumber } from "@/lib/contract/values/exact-number";
import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { monthOf } from "@/lib/contract/values/month";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import { type Budget, loadFullBudgets } from "@/lib/spend/budgets/load-budgets";
import { displayOf } from "@/lib/spend/conversion";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { bucketsOf, seriesScopeOf } from "@/lib/spend/metrics/series";
import { everything, rangeOf, spentWithin } from "@/lib/spend/period";
import { loadSubjects } from "@/lib/spend/subjects/service";
import {
  type ProjectRow,
  selectProjectBuckets,
  selectProjectSlugs,
  selectProjects,
  updateProjectRow,
} from "./project-queries";

/** Lists a workspace's projects with their spend, for its members. @throws ServiceError not_found */
export function listProjects(claims: UserClaims, slug: string): Promise<z.output<typeof projectList>> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    return { projects: await loadProjects(client, id, clockOf(timeZone, now)) };
  });
}

/**
 * The slugs of a workspace's projects in order of creation, in the caller's transaction. It is faster than `listProjects`,
 * which sums the spend of all days.
 */
export function loadProjectSlugs(client: ClientBase, workspaceId: string): Promise<string[]> {
  return selectProjectSlugs(client, workspaceId);
}

/** A project with its live spend in a range of days, up to today. */
export type SpendOfProject = Omit<Project, "month_usd" | "month_message_count"> & {
  range_usd: Project["month_usd"];
  range_message_count: number;
};

/** Each project's spend over time: by slug, the USD of each bucket as exact text, in the order of time. */
export type Trends = { bucket: "day" | "month"; of: Record<string, string[]> };

/**
 * Lists a workspace's projects with their spend in a range, its trend up to today, how it differs from the days compared with, and
 * the projects' budgets, for members, in one snapshot. The spend of all projects equals the total of the range's metrics, and trends
 * have the same buckets as the metrics' series.
 * @param currency a second currency; with one, amounts are ConvertedNumbers
 * @returns all projects; those without spend have no trend
 * @throws ServiceError not_found
 */
export function listSpendOfProjects(
  claims: UserClaims,
  slug: string,
  query: RangeQuery,
  currency?: string,
): Promise<{ projects: SpendOfProject[]; trends: Trends; changes: ChangesOfProjects; budgets: Budget[] }> {
  return asUserReading(claims, async (client, instant) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const clock = clockOf(timeZone, instant);
    const { now } = clock;
    const range = rangeOf(query, now);
    const days = {
      ...spentWithin(range, now),
      today: dayOf(now),
      foldedUntil: await selectFoldedUntil(client, id),
    };
    const display = await displayOf(currency, { ranges: [days], today: days.today });
    const projects = await selectProjects(client, id, days, null, display);
    const { bucket } = seriesScopeOf(range, "project");
    const rows = await selectProjectBuckets(client, id, days, bucket, days.foldedUntil);
    const buckets = bucketsOf(range.until === everything.until ? everything : days, bucket, rows, now);
    const spent = new Map(
      rows.map(({ slug: project, bucket: from, amount }) => [`${project} ${from}`, amount]),
    );
    const of = [...new Set(rows.map(({ slug: project }) => project))].map((project) => [
      project,
      buckets.map((from) => spent.get(`${project} ${from}`) ?? "0"),
    ]);
    const { subjects, compared } = await loadSubjects(
      client,
      id,
      { ...query, dimension: "project", environment: "live" },
      { currency, clock },
    );
    const changes = subjects.map(({ value, change }) => [value, change] as const);
    return {
      projects: projects.map(toSpendOfProject),
      trends: { bucket, of: Object.fromEntries(of) },
      changes: { compared, of: Object.fromEntries(changes) },
      budgets: (await loadFullBudgets(client, id)).filter(({ scope }) => scope.type === "project"),
    };
  });
}

/**
 * Renames, archives or restores a project. Archived projects are not offered in selections, but they count in every sum.
 * Messages to them are still recorded, which does not restore them.
 * @throws ServiceError not_found, permission_denied for viewers
 */
export function updateProject(
  claims: UserClaims,
  slug: string,
  projectSlug: string,
  changes: UpdateProjectRequest,
): Promise<Project> {
  return asUser(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug, "member");
    if (!(await updateProjectRow(client, id, projectSlug, changes))) throw notFound();
    const [project] = await loadProjects(client, id, clockOf(timeZone, now), projectSlug);
    if (!project) throw notFound();
    return project;
  });
}

async function loadProjects(
  client: ClientBase,
  workspaceId: string,
  { now }: Clock,
  slug?: string,
): Promise<Project[]> {
  const foldedUntil = await selectFoldedUntil(client, workspaceId);
  const days = { ...spentWithin(monthOf(now), now), today: dayOf(now), foldedUntil };
  return (await selectProjects(client, workspaceId, days, slug)).map((row) => {
    const { range_usd, range_message_count, ...project } = toSpendOfProject(row);
    return { ...project, month_usd: range_usd, month_message_count: range_message_count };
  });
}

function toSpendOfProject({ range_converted: converted, ...row }: ProjectRow): SpendOfProject {
  return {
    ...row,
    archived_at: row.archived_at && toInstant(row.archived_at.getTime()),
    created_at: toInstant(row.created_at.getTime()),
    range_usd:
      converted === null ? new ExactNumber(row.range_usd) : new ConvertedNumber(row.range_usd, converted),
    range_message_count: Number(row.range_message_count),
    message_count: Number(row.message_count),
  };
}
