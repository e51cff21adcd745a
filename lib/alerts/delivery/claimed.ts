import type { Alert } from "@/lib/alerts/alert";
import type { BudgetRequestDetails } from "@/lib/alerts/kinds/budget-request";
import type { ChannelKind } from "@/lib/contract/alerts/alert-channels";

/** A delivery that this process has claimed, with all that is needed to send it. Contains secrets: never log it. */
type Taken = {
  /** Sent with every attempt, so that a receiver recognises a repetition. */
  id: string;
  lease: string;
  /** Attempts so far, this one included. */
  attempts: number;
};

/** A claimed delivery of a workspace. */
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
    /** The secrets that sign a webhook: the present one, and for a day after a rotation the former one. */
    signing_secrets: string[];
    /** Who receives the mail. */
    recipients: string[];
    /** Whether it is of Slack, and clicks on the buttons of its messages are accepted. */
    has_buttons: boolean;
  };
  /** Null for a digest, a budget request, or a test of the channel. */
  alert: Alert | null;
  /** The number of alerts in a digest, the newest hundred of them, and its time zone. Null for other deliveries. */
  digest: { time_zone: string; count: number; alerts: Alert[] } | null;
  /** The budget request as it was when the delivery was queued; null for other deliveries. */
  details: BudgetRequestDetails | null;
};

/** A mail to a member about a budget request. */
export type ClaimedRequestMail = TakenOf & {
  kind: "budget_request_mail";
  /** The member's address; null if they have left. */
  member: string | null;
  details: BudgetRequestDetails;
};

/** An alert by mail to a member whom its budget names. */
export type ClaimedAlertMail = TakenOf & {
  kind: "alert_mail";
  /** The member's address; null if they have left. */
  member: string | null;
  alert: Alert;
};

/** A weekly report. `report` is null if its reader is no longer subscribed. */
export type ClaimedReport = TakenOf & {
  kind: "weekly_report";
  report: {
    user_id: string;
    /** The Monday of the reported week. */
    week: string;
    time_zone: string;
    email: string;
    /** Whether the reader has a verified second factor. */
    has_factor: boolean;
  } | null;
};

/** A mail about a channel that the service turned off, with the owners to notify. `off` is null if the channel is on again. */
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

/** A mail about a deletion or a restoration. Times are milliseconds since 1970. */
export type ClaimedDeletion = Taken & { recipient: string } & (
    | {
        kind: "workspace_deleted" | "workspace_restored";
        /** `by`: who deleted or restored it. `erased_at` is null if it was restored. */
        details: { name: string; slug: string; role: string; by: string | null; erased_at: number | null };
      }
    | { kind: "account_deleted" | "account_restored"; details: { erased_at: number | null } }
  );

/** Any delivery of the queue. */
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
      /** `gone`: retrying is pointless, because the receiver answered 410 or the mail has no recipient any more. */
      outcome: "failed" | "gone";
      status: number | null;
      /** What went wrong, for people; never with a secret. */
      error: string;
      /** How long the receiver asked to wait (Retry-After). */
      retryAfterMs?: number | undefined;
    };
