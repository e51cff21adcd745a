import type { ToolEntry, ToolInbox } from "@/lib/contract/alerts/alert-tools";

/** The inbox as text: the number of entries, then each entry with advice. */
export function describeInbox({ entries, counts, next_cursor: next }: ToolInbox): string {
  const { open, snoozed, mine } = counts;
  return [
    `${open} open (${mine} assigned to the user), ${snoozed} snoozed.`,
    ...(entries.length === 0 ? ["No entry matches."] : entries.map(describeEntry)),
    ...(next === null ? [] : ["There are more: pass next_cursor as cursor."]),
  ].join("\n");
}

/** An entry as text, in a few lines. */
export function describeEntry(entry: ToolEntry): string {
  const { id, title, summary, advice, assignee, snooze, resolved, status, last_fired_at: firedAt } = entry;
  const state = [
    resolved
      ? `resolved ${resolved.at} (${resolved.because}${resolved.by ? `, ${resolved.by.name}` : ""})`
      : status,
    assignee ? `assigned to ${assignee.name}` : "assigned to nobody",
    ...(snooze ? [`notifications off until ${snooze.until}`] : []),
  ].join(", ");
  return [
    `- ${title} (${id})`,
    `  ${summary}`,
    `  Last fired ${firedAt}; ${state}.`,
    ...(resolved ? [] : [`  ${advice}`]),
    ...entry.links.map(({ text, url }) => `  ${text}: ${url}`),
  ].join("\n");
}
