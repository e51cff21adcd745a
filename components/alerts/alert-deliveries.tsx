import { dayMs } from "@/components/figures/utc-day";
import type { FiredAlert } from "@/lib/contract/alerts/alerts";
import { DeliveryOutcome } from "./delivery-outcome";

const logDays = 30;

/** The most deliveries that are shown unfolded. */
const maxUnfolded = 3;
const shownWhenFolded = 2;

/** The states of deliveries in the order they are shown: first those that somebody may have to act on. */
const urgency: FiredAlert["deliveries"][number]["state"][] = [
  "dead",
  "pending",
  "collected",
  "cancelled",
  "delivered",
];

const quietReasons: Record<NonNullable<FiredAlert["quiet_reason"]>, string> = {
  was_above: "Not sent: spend was above this threshold when the budget was set.",
  snoozed: "Not sent: the alert was snoozed.",
  rule_off: "Not sent: the rule was off.",
  start_untold: "Not sent, because the alert itself was not sent.",
};

/** Whom an alert was sent to, or why it was not sent. */
export function AlertDeliveries({
  alert,
  workspace,
  canEdit,
}: {
  alert: FiredAlert;
  workspace: string;
  /** Whether the reader may send dead deliveries again. */
  canEdit: boolean;
}) {
  const { deliveries, quiet_reason: quiet, fired_at: at } = alert;
  if (deliveries.length > 0) {
    const sorted = deliveries.toSorted((a, b) => urgency.indexOf(a.state) - urgency.indexOf(b.state));
    const folded = sorted.length > maxUnfolded ? sorted.splice(shownWhenFolded) : [];
    const outcomes = (some: typeof deliveries, label: string) => (
      <ul aria-label={label} className="grid gap-1">
        {some.map((delivery) => (
          <li key={delivery.id}>
            <DeliveryOutcome
              delivery={delivery}
              label={delivery.channel.name}
              resendPath={
                canEdit ? `/api/v1/workspaces/${workspace}/alert-deliveries/${delivery.id}/resend` : undefined
              }
            />
          </li>
        ))}
      </ul>
    );
    return (
      <div className="grid gap-1 text-[13px]">
        {outcomes(sorted, "Sent to")}
        {folded.length > 0 ? (
          <details>
            <summary className="w-fit cursor-pointer rounded-sm text-muted-foreground hover:text-foreground">
              {folded.length} more channels
            </summary>
            <div className="pt-1">{outcomes(folded, "Also sent to")}</div>
          </details>
        ) : null}
      </div>
    );
  }
  const reason = quiet
    ? quietReasons[quiet]
    : Date.now() - Date.parse(at) > logDays * dayMs
      ? `Recipients are kept for ${logDays} days.`
      : "Not sent: no channel receives this alert.";
  return <p className="text-[13px] text-muted-foreground">{reason}</p>;
}
