import type { ClientBase, PoolClient } from "pg";
import type { CostMessage, MessageSource } from "@/lib/contract/ledger/message";
import { date, float, integer, json, nullable, type Row, text, timestamp, uuid } from "@/lib/db/columns";
import { callFunction, execute, selectAll, selectOne } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";
import type { Interval } from "./periods";

const subscriptionRow = {
  id: uuid(),
  project: text(),
  environment: text<"live" | "test">(),
  message: json<Extract<CostMessage, { type: "subscription" }>>(),
  anchor_on: date(),
  ends_on: nullable(date()),
  booked_periods: integer(),
  next_on: nullable(date()),
  stopped_at: nullable(timestamp()),
};

/** A recurring subscription as stored; days are text. */
export type SubscriptionRow = Row<typeof subscriptionRow>;

/** A workspace's recurring subscriptions, active ones first. @param id only this subscription */
export function selectSubscriptions(
  client: ClientBase,
  workspaceId: string,
  id: string | null = null,
): Promise<SubscriptionRow[]> {
  return selectAll(
    client,
    subscriptionRow,
    sql`select s.id, p.slug as project, s.environment, s.message, s.anchor_on, s.ends_on, s.booked_periods, s.next_on, s.stopped_at
     from public.recurring_subscriptions as s
     join public.projects as p on p.workspace_id = s.workspace_id and p.id = s.project_id
     where s.workspace_id = ${workspaceId} ${id === null ? empty : sql`and s.id = ${id}`}
     order by s.next_on nulls last, s.id`,
  );
}

/** Stops a subscription. Does nothing if it is stopped already. */
export async function stopSubscription(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await execute(
    client,
    sql`update public.recurring_subscriptions set stopped_at = now(), next_on = null
      where workspace_id = ${workspaceId} and id = ${id} and stopped_at is null`,
  );
}

const dueSubscription = {
  workspace_id: uuid(),
  id: uuid(),
  project_id: uuid(),
  api_key_id: nullable(uuid()),
  source: text<MessageSource>(),
  environment: text<"live" | "test">(),
  message: json<Extract<CostMessage, { type: "subscription" }>>(),
  period: text<Interval>(),
  anchor_on: date(),
  ends_on: nullable(date()),
  booked_periods: integer(),
  next_on: date(),
  closed_until: nullable(date()),
  time_zone: text(),
};

/** A locked subscription with a begun period that is not booked. `closed_until`: the first open day of its workspace, in `time_zone`. */
export type DueSubscription = Row<typeof dueSubscription>;

/** Locks subscriptions with unbooked periods, skipping those that another process has locked. @param today `YYYY-MM-DD`, UTC */
export function lockDueSubscriptions(
  client: PoolClient,
  today: string,
  atMost: number,
): Promise<DueSubscription[]> {
  return selectAll(
    client,
    dueSubscription,
    sql`select workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on,
        booked_periods, next_on, private.closed_until(workspace_id) as closed_until, private.time_zone_of(workspace_id) as time_zone
      from private.lock_due_subscriptions(${today}, ${atMost})`,
  );
}

const comingSubscription = {
  workspace_id: uuid(),
  project_id: uuid(),
  project: text(),
  source: text<MessageSource>(),
  message: json<Extract<CostMessage, { type: "subscription" }>>(),
  period: text<Interval>(),
  anchor_on: date(),
  ends_on: nullable(date()),
  booked_periods: integer(),
};

/** A subscription with a period that will be booked. */
export type ComingSubscription = Row<typeof comingSubscription>;

/** How many subscriptions a forecast counts at most, those with the next charge first. */
const maxComing = 2_000;

/** The subscriptions, among those that the caller may see, whose next period begins before a day. @param before `YYYY-MM-DD`, UTC */
export function selectComing(
  client: ClientBase,
  { workspaceId, environment }: { workspaceId: string; environment: "live" | "test" },
  before: string,
): Promise<ComingSubscription[]> {
  return selectAll(
    client,
    comingSubscription,
    sql`select s.workspace_id, s.project_id, p.slug as project, s.source, s.message, s.period, s.anchor_on, s.ends_on, s.booked_periods
      from public.recurring_subscriptions as s
      join public.projects as p on p.workspace_id = s.workspace_id and p.id = s.project_id
      where s.workspace_id = ${workspaceId} and s.environment = ${environment} and s.next_on < ${before}
      order by s.next_on, s.id limit ${maxComing}`,
  );
}

/** Like `selectComing`, for the live subscriptions of several workspaces. Runs as the service. */
export function selectComingOfWorkspaces(
  client: ClientBase,
  workspaceIds: string[],
  before: string,
): Promise<ComingSubscription[]> {
  return selectAll(
    client,
    comingSubscription,
    sql`select s.workspace_id, s.project_id, '' as project, s.source, s.message, s.period, s.anchor_on, s.ends_on, s.booked_periods
      from private.coming_subscriptions(${workspaceIds}, ${before}, ${maxComing}) as s`,
  );
}

/** Stores how many periods are booked and when the next one begins. */
export async function advanceSubscription(
  client: PoolClient,
  { workspace_id, id }: DueSubscription,
  booked: number,
  nextOn: string | null,
): Promise<void> {
  await callFunction(client, "private.advance_subscription", workspace_id, id, booked, nextOn);
}

/** The time by the database's clock, in whole milliseconds since 1970. */
export async function selectNow(client: ClientBase): Promise<number> {
  const { now } = await selectOne(
    client,
    { now: float() },
    sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`,
  );
  return Math.floor(now);
}
