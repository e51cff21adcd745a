import type { InboxEntry } from "@/lib/contract/alerts/alert-inbox";

/** Id of the element that gets the focus when an entry leaves the list. */
export const inboxId = "alert-inbox";

type Fired = InboxEntry["course"][number];

/** The label of an alert in an entry's course: "80%", "$500", "Warning". */
export function levelLabel({ rule, level, state }: Pick<Fired, "rule" | "level" | "state">): string {
  if (state === "ok") return "Over";
  if (rule === "budget_threshold") return level.startsWith("$") ? level : `${level}%`;
  return state === "alert" ? "Alert" : "Warning";
}

const reasons: Record<Exclude<NonNullable<InboxEntry["resolved"]>["because"], "by_hand">, string> = {
  recovered: "it no longer holds",
  period_over: "its period is over",
  gone: "what it is about was deleted or revoked",
  rule_off: "its rule was turned off",
};

/** Why an entry is resolved, in words: "by Grace Hopper"; "it no longer holds". */
export function describeResolution(
  { because, by }: Pick<NonNullable<InboxEntry["resolved"]>, "because" | "by">,
  rule: InboxEntry["rule"],
): string {
  if (because === "by_hand") return `by ${by?.name ?? "a former member"}`;
  if (because === "recovered" && rule === "budget_threshold")
    return "by itself: the spend is below the threshold";
  return `by itself: ${reasons[because]}`;
}

/** The fields of an entry that its buttons need. */
export type EntryOfActions = Pick<InboxEntry, "id" | "title" | "rule" | "subject" | "status"> & {
  assigneeId: string | null;
  /** The snooze of the entry's subject. A snooze of the whole rule is ended on the page of the rules. */
  snoozeId: string | null;
  isResolvedByHand: boolean;
};

/** Picks the fields that the buttons need, because props of client components are sent to the browser in addition to the HTML. */
export function toActions({
  id,
  title,
  rule,
  subject,
  status,
  assignee,
  snooze,
  resolved,
}: InboxEntry): EntryOfActions {
  return {
    id,
    title,
    rule,
    subject,
    status,
    assigneeId: assignee?.user_id ?? null,
    snoozeId: snooze && !snooze.whole_rule ? snooze.id : null,
    isResolvedByHand: resolved?.because === "by_hand",
  };
}
