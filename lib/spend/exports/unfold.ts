import type { ActivityLine, StoredActivity } from "@/lib/spend/activity/activity-queries";
import { labelOf } from "@/lib/spend/activity/label";

/** A posting of an export: a row of activity, or one line of the message that a row is. */
export type ExportedPosting = StoredActivity;

/**
 * Rows of activity as postings: each message with lines as its lines, every one with its own part, model, unit, quantity and amount.
 * The label and `message_amount_usd` stay those of the whole message.
 * @param lines those of the rows that have lines, in their order
 * @param separator between the parts of a label that describes its message
 */
export function unfold(rows: StoredActivity[], lines: ActivityLine[], separator?: string): ExportedPosting[] {
  const linesOf = new Map<string, ActivityLine[]>();
  for (const line of lines) {
    const known = linesOf.get(line.id);
    if (known) known.push(line);
    else linesOf.set(line.id, [line]);
  }
  return rows.flatMap((row) => {
    if (!row.has_lines) return [row];
    const whole = { ...row, label: labelOf(row, separator) };
    return (linesOf.get(row.id) ?? []).map((line) => ({ ...whole, ...line, line_count: 1 }));
  });
}

/**
 * Divides rows into runs with a limited number of postings. A row with more postings is a run of its own.
 * @param atMost the most postings of a run
 */
export function* runsOf(rows: StoredActivity[], atMost: number): Generator<StoredActivity[]> {
  let run: StoredActivity[] = [];
  let postings = 0;
  for (const row of rows) {
    if (run.length > 0 && postings + row.line_count > atMost) {
      yield run;
      run = [];
      postings = 0;
    }
    run.push(row);
    postings += row.line_count;
  }
  if (run.length > 0) yield run;
}
