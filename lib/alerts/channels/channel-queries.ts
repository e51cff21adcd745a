import type { ClientBase } from "pg";
import type { Claimed } from "@/lib/alerts/delivery/claimed";
import type { ChannelKind } from "@/lib/contract/alerts/alert-channels";
import type { AlertRule } from "@/lib/contract/alerts/alert-rules";
import {
  boolean,
  integer,
  neverNull,
  nullable,
  type Row,
  text,
  texts,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll } from "@/lib/db/query";
import { empty, sql } from "@/lib/db/sql";

const channelRow = {
  id: uuid(),
  name: text(),
  kind: text<ChannelKind>(),
  target: text(),
  rules: nullable(texts<AlertRule>()),
  least_percent: nullable(integer()),
  cadence: text<"immediate" | "daily" | "weekly">(),
  /** `HH:MM`. */
  digest_time: text(),
  /** 1 is Monday. */
  digest_weekday: integer(),
  time_zone: text(),
  next_digest_at: nullable(timestamp()),
  disabled_at: nullable(timestamp()),
  disabled_reason: nullable(text<"failing" | "gone" | "by_admin">()),
  failing_since: nullable(timestamp()),
  secret_set_at: timestamp(),
  has_buttons: neverNull(boolean()),
  created_at: timestamp(),
};

/** A channel, without its secrets. */
export type ChannelRow = Row<typeof channelRow>;

/** The channels of a workspace. @param id only this one */
export function selectChannels(client: ClientBase, workspaceId: string, id?: string): Promise<ChannelRow[]> {
  return selectAll(
    client,
    channelRow,
    sql`select id, name, kind, target, rules, least_percent, cadence,
        to_char(digest_time, 'HH24:MI') as digest_time, digest_weekday, time_zone, next_digest_at, disabled_at, disabled_reason, failing_since, secret_set_at,
        (
          select b.has_buttons from public.alert_channel_buttons as b
          where b.workspace_id = alert_channels.workspace_id and b.channel_id = alert_channels.id
        ) as has_buttons,
        created_at
      from public.alert_channels
      where workspace_id = ${workspaceId} ${id === undefined ? empty : sql`and id = ${id}`}
      order by lower(name), id`,
  );
}

/** Returns those of the given addresses that belong to members. @param addresses in lower case */
export async function selectMemberAddresses(
  client: ClientBase,
  workspaceId: string,
  addresses: string[],
): Promise<string[]> {
  const rows = await selectAll(
    client,
    { email: text() },
    sql`select lower(p.email) as email
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = ${workspaceId} and lower(p.email) = any (${addresses})`,
  );
  return rows.map(({ email }) => email);
}

// The rest runs as the service in the user's transaction; each function checks the user's role again.

/** A new channel. `address` and `signing_secret` are secrets, stored in the schema `private`. */
export type NewChannel = {
  name: string;
  kind: ChannelKind;
  target: string;
  rules: string[] | null;
  least_percent: number | null;
};

/** Adds a channel. @returns its id; null if the workspace has `atMost` already */
export function addChannel(
  client: ClientBase,
  workspaceId: string,
  channel: NewChannel,
  secrets: { address: string | null; signing_secret: string | null },
  atMost: number,
): Promise<string | null> {
  const [given, secret] = [JSON.stringify(channel), JSON.stringify(secrets)];
  return callFunction(client, "private.add_alert_channel", workspaceId, given, secret, atMost);
}

/** Changes the given fields. */
export async function changeChannel(
  client: ClientBase,
  workspaceId: string,
  id: string,
  changes: Partial<Omit<NewChannel, "kind">> & { address?: string; is_disabled?: boolean },
): Promise<void> {
  await callFunction(client, "private.change_alert_channel", workspaceId, id, JSON.stringify(changes));
}

/** Sets when a channel sends. @throws an error 22023 for a time zone that Postgres does not know */
export async function setDigest(
  client: ClientBase,
  workspaceId: string,
  id: string,
  digest: {
    cadence: "immediate" | "daily" | "weekly";
    digest_time?: string;
    digest_weekday?: number;
    time_zone?: string;
  },
): Promise<void> {
  await callFunction(client, "private.set_channel_digest", workspaceId, id, JSON.stringify(digest));
}

/** Deletes a channel with its secrets. */
export async function removeChannel(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  await callFunction(client, "private.remove_alert_channel", workspaceId, id);
}

/** Sets a new signing secret. @returns until when the old one signs, too; null if the channel's kind signs nothing */
export function rotateSecret(
  client: ClientBase,
  workspaceId: string,
  id: string,
  secret: string,
  overlapSeconds: number,
): Promise<Date | null> {
  return callFunction(client, "private.rotate_channel_secret", workspaceId, id, secret, overlapSeconds);
}

/** Queues a test and claims it for this process. @returns null if the channel was deleted meanwhile */
export function beginTest(
  client: ClientBase,
  workspaceId: string,
  id: string,
  leaseSeconds: number,
): Promise<Claimed | null> {
  return callFunction(client, "private.begin_channel_test", workspaceId, id, leaseSeconds);
}
