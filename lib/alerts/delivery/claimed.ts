import type { Alert } from "@/lib/alerts/alert";
import type { ToldRequest } from "@/lib/alerts/kinds/budget-request";
import type { ChannelKind } from "@/lib/contract/alerts/alert-channels";

/** What this process has taken from the queue, with what it needs to send it. Contains secrets: never log it. */
type Taken = {
  /** Sent along, so that a receiver recognises what it received before. */
  id: string;
  lease: string;
  /** Attempts so far, this one included. */
  attempts: number;
};

/** Taken of a workspace. */
type TakenOf = Taken & { workspace_id: string; workspace: { slug: string; name: string } };

/** A delivery to a channel. */
export type Claimed = TakenOf & {
  kind: "alert" | "digest" | "test" | "budget_request";
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
  /** Null: a digest, a budget request, or a test of the channel. */
  alert: Alert | null;
  /** How many alerts a digest has, the newest hundred of them, and the zone of its times. Null where it is none. */
  digest: { time_zone: string; count: number; alerts: Alert[] } | null;
  /** The budget request, as it was when this was queued; null for the other kinds. */
  details: ToldRequest | null;
};

/** A mail about a budget request to a member. */
export type ClaimedRequestMail = TakenOf & {
  kind: "budget_request_mail";
  /** The member's address; null where they have left. */
  member: string | null;
  details: ToldRequest;
};

/** An alert by mail to a member whom its budget names. */
export type ClaimedAlertMail = TakenOf & {
  kind: "alert_mail";
  /** The member's address; null where they have left. */
  member: string | null;
  alert: Alert;
};

/** A weekly report; null where its reader is not there any more. */
export type ClaimedReport = TakenOf & {
  kind: "weekly_report";
  report: {
    user_id: string;
    /** The Monday of the week that it is about. */
    week: string;
    time_zone: string;
    email: string;
    /** Whether the reader has a verified second factor. */
    has_factor: boolean;
  } | null;
};

/** A channel that the service turned off, with the owners to notify; null where it is on again. */
export type ClaimedChannelOff = TakenOf & {
  kind: "channel_off";
  off: {
    name: string;
    kind: string;
    target: string;
    reason: "failing" | "gone";
    failing_since: string | null;
    owners: string[];
  } | null;
};

/** What a mail says of a deletion or its undo. Times are milliseconds since 1970. */
export type ClaimedDeletion = Taken & { recipient: string } & (
    | {
        kind: "workspace_deleted" | "workspace_restored";
        /** `by`: who did it. `erased_at` is null of one that was restored. */
        details: { name: string; slug: string; role: string; by: string | null; erased_at: number | null };
      }
    | { kind: "account_deleted" | "account_restored"; details: { erased_at: number | null } }
  );

/** Everything that the queue has. */
export type Delivery =
  | Claimed
  | ClaimedAlertMail
  | ClaimedRequestMail
  | ClaimedReport
  | ClaimedChannelOff
  | ClaimedDeletion;

/** How an attempt ended. */
export type DeliveryOutcome =
  | { outcome: "delivered"; status: number | null }
  | {
      /** `gone`: another attempt is no use; a receiver answered 410 and wants no more. */
      outcome: "failed" | "gone";
      status: number | null;
      /** What went wrong, for people; never with a secret. */
      error: string;
      /** How long the receiver asked to wait (Retry-After). */
      retryAfterMs?: number | undefined;
    };
