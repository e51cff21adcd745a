import type { z } from "zod";
import type { monthSummary } from "@/lib/contract/reads";
import { asKeyAtOnce, type KeyClaims } from "@/lib/db/transaction";
import { parseDecimal, sum } from "@/lib/ledger/pricing/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { selectMonthTotals } from "./queries";

/** The current UTC month of what the key may see (specification 2.5). The total and its parts are sums of the same rows. */
export async function readMonthSummary(claims: KeyClaims): Promise<z.output<typeof monthSummary>> {
  const scope = { workspaceId: claims.workspace_id, environment: claims.environment };
  const projects = await asKeyAtOnce(claims, (client) => selectMonthTotals(client, scope));
  const total = (pick: (row: (typeof projects)[number]) => string) =>
    toExact(sum(projects.map((row) => parseDecimal(pick(row)))));
  const amount = (text: string) => toExact(parseDecimal(text));
  const [top] = projects;
  return {
    period: "month",
    total_usd: total((row) => row.total),
    usage_usd: total((row) => row.usage),
    subscription_usd: total((row) => row.subscription),
    expense_usd: total((row) => row.expense),
    by_project: Object.fromEntries(projects.map((row) => [row.slug, amount(row.total)])),
    top_project: top ? { slug: top.slug, name: top.name, total_usd: amount(top.total) } : null,
    message_count: projects.reduce((count, row) => count + Number(row.messages), 0),
    unpriced_count: projects.reduce((count, row) => count + Number(row.unpriced), 0),
    included_usd: total((row) => row.included),
  };
}
