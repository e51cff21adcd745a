import { callAsService } from "@/lib/db/transaction";
import type { Claimed } from "./claimed";

/** How many deliveries to take: in all, for channels that fail, and for one channel. */
export type Room = { all: number; failing: number; channel: number };

/** Takes deliveries that are due, for `leaseSeconds`. */
export function claimDeliveries(room: Room, leaseSeconds: number): Promise<Claimed[]> {
  return callAsService("private.claim_alert_deliveries", room.all, room.failing, room.channel, leaseSeconds);
}

/** An attempt that ended; see `private.finish_alert_delivery`. */
export type Ended = Pick<Claimed, "workspace_id" | "id" | "lease"> & {
  outcome: "delivered" | "failed" | "gone";
  status: number | null;
  error: string | null;
  retry_in_ms: number;
};

/** Records how an attempt ended. @returns the delivery's state, or null where another process has taken it */
export function finishDelivery(ended: Ended): Promise<"pending" | "delivered" | "dead" | "cancelled" | null> {
  return callAsService("private.finish_alert_delivery", JSON.stringify(ended));
}

/** The age of the oldest delivery that waits for an enabled channel, in seconds; 0 where there is none. */
export function oldestDeliverySeconds(): Promise<number> {
  return callAsService("private.oldest_alert_delivery_seconds");
}

/** Makes the digests that are due. @returns how many it made */
export function makeDigests(atMost: number): Promise<number> {
  return callAsService("private.make_digests", atMost);
}

/** Deletes the old log, and ends what nobody will send. @returns how many deliveries it changed */
export function sweepDeliveries(atMost: number): Promise<number> {
  return callAsService("private.sweep_alert_deliveries", atMost);
}

/** A channel that the service disabled, whose owners are to be told. */
export type ChannelNotice = {
  workspace_id: string;
  workspace: { slug: string; name: string };
  channel: { id: string; name: string; kind: string; target: string };
  reason: "failing" | "gone";
  failing_since: string | null;
  owners: string[];
};

/** Takes notices that are due. One that is not noted as told is due again later. */
export function claimNotices(atMost: number): Promise<ChannelNotice[]> {
  return callAsService("private.claim_channel_notices", atMost);
}

/** Notes that a workspace's owners were told about a channel. */
export async function noteOwnersTold({ workspace_id, channel }: ChannelNotice): Promise<void> {
  await callAsService("private.note_owners_told", workspace_id, channel.id);
}
