import { Fragment } from "react";
import { Time } from "@/components/figures/time";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import type { InboxEntry } from "@/lib/contract/alerts/alert-inbox";
import { AlertDeliveries } from "./alert-deliveries";
import { AlertFigures } from "./alert-figures";
import { AlertMark } from "./alert-mark";
import { EntryActions } from "./entry-actions";
import { describeResolution, levelLabel, toActions } from "./entry-view";

type Context = {
  workspace: string;
  /** The id of the reader. */
  userId: string;
  /** Whether the reader may assign and resolve entries. */
  canChange: boolean;
  /** Whether the reader may snooze entries and send dead deliveries again. */
  canSnooze: boolean;
};

/** The entries of the inbox: what happened, since when, who it is assigned to, what to do, and the course of its alerts. */
export function InboxList({ entries, ...context }: Context & { entries: InboxEntry[] }) {
  return (
    <ul aria-label="Inbox" className="grid rounded-lg border">
      {entries.map((entry) => (
        <li key={entry.id} className="border-t px-4 py-3 first:border-t-0">
          <Entry entry={entry} {...context} />
        </li>
      ))}
    </ul>
  );
}

function Entry({ entry, workspace, userId, canChange, canSnooze }: Context & { entry: InboxEntry }) {
  const { status, severity, title, advice, links } = entry;
  const [first, ...others] = links;
  const isResolved = status === "resolved";
  return (
    <article className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5">
      <AlertMark state={isResolved ? "ok" : "alert"} severity={severity} />
      <div className="grid gap-1">
        <header className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5">
          <h2 className="font-medium [overflow-wrap:anywhere]">{title}</h2>
          <Time at={entry.last_fired_at} className="whitespace-nowrap text-muted-foreground text-xs" />
        </header>
        <AlertFigures alert={entry} />
        {isResolved ? null : <p className="text-[13px] text-muted-foreground">{advice}</p>}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pt-1">
          {first ? (
            <Link
              href={first.url}
              prefetch={false}
              className={buttonVariants({ variant: isResolved ? "outline" : "secondary", size: "sm" })}
            >
              {first.text}
            </Link>
          ) : null}
          {others.map(({ text, url }) => (
            <Link
              key={text}
              href={url}
              prefetch={false}
              className="rounded-sm text-[13px] text-muted-foreground underline-offset-4 hover:text-foreground hover:underline"
            >
              {text}
            </Link>
          ))}
          <Standing entry={entry} userId={userId} />
          <Course entry={entry} workspace={workspace} canEdit={canSnooze} />
          {canChange ? (
            <div className="ml-auto flex items-center gap-1">
              <EntryActions
                entry={toActions(entry)}
                workspace={workspace}
                userId={userId}
                canSnooze={canSnooze}
              />
            </div>
          ) : null}
        </div>
      </div>
    </article>
  );
}

/** When the entry was opened, who it is assigned to, and until when it is snoozed or why it was resolved. */
function Standing({ entry, userId }: { entry: InboxEntry; userId: string }) {
  const { assignee, snooze, resolved, course, opened_at: openedAt } = entry;
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-[13px] text-muted-foreground">
      {resolved ? (
        <span>
          Resolved <Time at={resolved.at} /> {describeResolution(resolved, entry.rule)}
        </span>
      ) : course.length > 1 ? (
        <span>
          Since <Time at={openedAt} />
        </span>
      ) : null}
      {assignee ? (
        <span className="text-foreground [overflow-wrap:anywhere]">
          {assignee.user_id === userId ? "Assigned to you" : `Assigned to ${assignee.name}`}
        </span>
      ) : resolved ? null : (
        <span>Unassigned</span>
      )}
      {snooze && !resolved ? (
        <span>
          {snooze.whole_rule ? "Its rule is snoozed" : "Snoozed"} until <Time at={snooze.until} />
        </span>
      ) : null}
    </p>
  );
}

/** The most alerts of a folded course. */
const shownOfCourse = 4;

/**
 * The alerts of an entry. If there are several, a line says what fired when, and details say whom each was sent to. The details are
 * open if a delivery failed.
 */
function Course({
  entry: { course },
  workspace,
  canEdit,
}: {
  entry: InboxEntry;
  workspace: string;
  canEdit: boolean;
}) {
  const oldestFirst = course.toReversed();
  const hasFailed = course.some(({ deliveries }) => deliveries.some(({ state }) => state === "dead"));
  return (
    <details open={hasFailed} className="text-[13px] open:order-last open:w-full">
      <summary className="w-fit cursor-pointer rounded-sm text-muted-foreground hover:text-foreground">
        {oldestFirst.length === 1 ? "Whom it was sent to" : null}
        {oldestFirst.length > shownOfCourse ? "… " : null}
        {(oldestFirst.length === 1 ? [] : oldestFirst).slice(-shownOfCourse).map((alert, index) => (
          <Fragment key={alert.id}>
            {/* A place to break the line, so that the marker is not left on a line of its own. */}
            {index > 0 ? " " : null}
            <span className="whitespace-nowrap">
              {index > 0 ? <span aria-hidden="true">→ </span> : null}
              {index > 0 ? <span className="sr-only">, then </span> : null}
              <span className="font-medium text-foreground">{levelLabel(alert)}</span>{" "}
              <Time at={alert.fired_at} />
            </span>
          </Fragment>
        ))}
      </summary>
      <ol aria-label="Course" className="grid gap-2.5 border-l py-2 pl-3">
        {oldestFirst.map((alert) => (
          <li key={alert.id} className="grid gap-0.5">
            <p className="[overflow-wrap:anywhere]">
              {alert.title} <Time at={alert.fired_at} className="text-muted-foreground" />
            </p>
            <AlertDeliveries alert={alert} workspace={workspace} canEdit={canEdit} />
          </li>
        ))}
      </ol>
    </details>
  );
}
