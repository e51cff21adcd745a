import type { Alert } from "@/lib/alerts/alert";
import type { ChannelKind } from "@/lib/contract/alerts/alert-channels";

/** A delivery that this process has taken from the queue, with what it needs to send it. Contains secrets: never log it. */
export type Claimed = {
  workspace_id: string;
  /** Sent along, so that a receiver recognises what it received before. */
  id: string;
  lease: string;
  /** Attempts so far, this one included. */
  attempts: number;
  workspace: { slug: string; name: string };
  channel: {
    id: string;
    name: string;
    kind: ChannelKind;
    is_failing: boolean;
    /** The address, or PagerDuty's routing key; null for mail. */
    address: string | null;
    /** The secrets that sign a webhook: the present one, and while it is being rotated the one before. */
    signing_secrets: string[];
    /** Who receives the mail. */
    recipients: string[];
  };
  /** Null: a digest, or a test of the channel. */
  alert: Alert | null;
  /** How many alerts a digest has, the newest hundred of them, and the zone of its times. Null where it is none. */
  digest: { time_zone: string; count: number; alerts: Alert[] } | null;
};

/** How an attempt ended. */
export type Outcome =
  | { outcome: "delivered"; status: number | null }
  | {
      /** `gone`: the receiver answered 410 and wants no more. */
      outcome: "failed" | "gone";
      status: number | null;
      /** What went wrong, for people; never with a secret. */
      error: string;
      /** How long the receiver asked to wait (Retry-After). */
      retryAfterMs?: number | undefined;
    };
