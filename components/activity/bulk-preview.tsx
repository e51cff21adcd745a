import { exactText } from "@/components/figures/amount";
import { sumExact } from "@/components/figures/exact";
import { formatCount } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { formatPercent } from "@/components/figures/format-percent";
import { Money } from "@/components/figures/money";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { BulkAction, BulkEffects } from "@/lib/contract/spend/bulk-actions";

type Row = { key: string; label: string; about?: string; before: string; after: string };

/** The most days that are listed one by one. If there are more, the rows are summed by project. */
const maxDays = 7;

/** The effects of a bulk change: the amount, and the sums, budgets and alerts that change with it. */
export function BulkPreview({ preview }: { preview: BulkAction }) {
  const { message_count: count, unchanged_count: unchanged, before_usd: before, after_usd: after } = preview;
  const isSame = exactText(before) === exactText(after);
  return (
    <section aria-label="What changes" className="grid gap-3 rounded-lg border p-3 text-sm">
      <p>
        <span className="font-medium">{formatCount(count, "cost")}</span>
        {isSame ? (
          <>
            {" of "}
            <Money usd={before} figure="bulk.before_usd" />, which stays the same
          </>
        ) : (
          <>
            {": "}
            <Money usd={before} figure="bulk.before_usd" /> becomes{" "}
            <Money usd={after} figure="bulk.after_usd" />
          </>
        )}
        {unchanged === 0
          ? "."
          : `. ${formatCount(unchanged, "other")} stay${unchanged === 1 ? "s" : ""} as ${unchanged === 1 ? "it is" : "they are"}.`}
      </p>
      {preview.effects ? <EffectsPreview effects={preview.effects} /> : null}
    </section>
  );
}

/** The sums, budgets and alerts that change. */
export function EffectsPreview({ effects: { projects, budgets, alerts } }: { effects: BulkEffects }) {
  return (
    <>
      <Changes title="Projects" rows={rowsOfProjects(projects)} />
      <Changes title="Budgets" rows={rowsOfBudgets(budgets)} />
      {alerts.length > 0 ? (
        <ul className="grid gap-1 text-warning">
          {alerts.map((alert) => (
            <li key={`${alert.budget} ${alert.percent}`}>
              Raises an alert: {alert.budget} reaches {alert.percent}% of its limit.
            </li>
          ))}
        </ul>
      ) : budgets.length > 0 ? (
        <p className="text-muted-foreground text-xs">No new alert. Alerts that were raised before stay.</p>
      ) : null}
    </>
  );
}

function Changes({ title, rows }: { title: string; rows: Row[] }) {
  if (rows.length === 0) return null;
  return (
    <div className="max-h-56 overflow-y-auto">
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="h-8 pl-0">{title}</TableHead>
            <TableHead className="h-8 text-right">Now</TableHead>
            <TableHead className="h-8 pr-0 text-right">Then</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {rows.map(({ key, label, about, before, after }) => (
            <TableRow key={key}>
              <TableCell className="w-full max-w-0 py-1.5 pl-0">
                <span dir="auto" className="block truncate text-left">
                  {label}
                </span>
                {about ? <span className="block truncate text-muted-foreground text-xs">{about}</span> : null}
              </TableCell>
              <TableCell className="whitespace-nowrap py-1.5 text-right text-muted-foreground">
                <Money usd={before} />
              </TableCell>
              <TableCell className="whitespace-nowrap py-1.5 pr-0 text-right">
                <Money usd={after} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}

/** A row for each day, or for each project if there are more than `maxDays` days. */
function rowsOfProjects(projects: BulkEffects["projects"]): Row[] {
  const isByDay = projects.reduce((count, { days }) => count + days.length, 0) <= maxDays;
  return projects.flatMap(({ slug, name, environment, days }) => {
    const key = `${slug} ${environment}`;
    const label = environment === "test" ? `${name} (test)` : name;
    if (isByDay) {
      return days.map(({ day, before_usd, after_usd }) => ({
        key: `${key} ${day}`,
        label,
        about: formatDate(day),
        before: exactText(before_usd),
        after: exactText(after_usd),
      }));
    }
    const sumOf = (side: "before_usd" | "after_usd") => sumExact(days.map((each) => exactText(each[side])));
    return [
      {
        key,
        label,
        about: formatCount(days.length, "day"),
        before: sumOf("before_usd"),
        after: sumOf("after_usd"),
      },
    ];
  });
}

const rowsOfBudgets = (budgets: BulkEffects["budgets"]): Row[] =>
  budgets.map(({ id, name, from, limit_usd: limit, before_usd, after_usd }) => ({
    key: `${id} ${from}`,
    label: name,
    about: `${sharesOf(before_usd, after_usd, limit)} · from ${formatDate(from)}`,
    before: exactText(before_usd),
    after: exactText(after_usd),
  }));

type Amount = Parameters<typeof exactText>[0];

/** How much of a limit is spent before and after: "85% to 92%", or one share if it does not change. */
function sharesOf(before: Amount, after: Amount, limit: Amount): string {
  const [was, is] = [before, after].map((spent) =>
    formatPercent(Number(exactText(spent)) / Number(exactText(limit))),
  );
  return was === is ? `${is}` : `${was} to ${is}`;
}
