import { Time } from "@/components/figures/time";
import { dayMs } from "@/components/figures/utc-day";
import { Link } from "@/components/ui/link";
import type { FiredAlert } from "@/lib/contract/alerts/alerts";
import { AlertFigures } from "./alert-figures";
import { AlertMark } from "./alert-mark";
import { DeliveryOutcome } from "./delivery-outcome";
import { SnoozeButton } from "./snooze-button";

type Props = { workspace: string; canEdit: boolean };

/** What fired: what happened, the figures at that time, whom it was sent to, and links to the subject and its rows. */
export function AlertList({ alerts, ...props }: Props & { alerts: FiredAlert[] }) {
  return (
    <ul aria-label="What fired" className="grid">
      {alerts.map((alert) => (
        <li key={alert.id} className="border-t py-3.5 first:border-t-0 first:pt-0">
          <Item alert={alert} {...props} />
        </li>
      ))}
    </ul>
  );
}

function Item({ alert, workspace, canEdit }: Props & { alert: FiredAlert }) {
  return (
    <article className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5">
      <AlertMark {...alert} />
      <div className="grid gap-1.5">
        <header className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5">
          <h2 className="font-medium [overflow-wrap:anywhere]">{alert.title}</h2>
          <Time at={alert.fired_at} className="whitespace-nowrap text-muted-foreground text-xs" />
        </header>
        <AlertFigures alert={alert} />
        <FiredAlertRow alert={alert} workspace={workspace} canEdit={canEdit} />
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-[13px]">
          {alert.links.map(({ text, url }) => (
            <Link
              key={text}
              href={url}
              prefetch={false}
              className="rounded-sm text-muted-foreground underline-offset-4 hover:text-foreground hover:underline"
            >
              {text}
            </Link>
          ))}
          {canEdit && alert.state !== "ok" ? (
            <span className="flex flex-wrap items-center gap-x-2">
              {alert.snooze ? (
                <span className="text-muted-foreground">
                  Snoozed until <Time at={alert.snooze.until} />
                </span>
              ) : null}
              <SnoozeButton
                workspace={workspace}
                rule={alert.rule}
                subject={alert.subject}
                snooze={alert.snooze ?? undefined}
              />
            </span>
          ) : null}
        </p>
      </div>
    </article>
  );
}

const logDays = 30;

/** Of more deliveries than these, only the first are shown unfolded. */
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

/** Whom the alert was sent to, or why it was sent to nobody. */
function FiredAlertRow({ alert, workspace, canEdit }: Props & { alert: FiredAlert }) {
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
