import { type AmountProp, exactText } from "@/components/figures/amount";
import type { SessionList } from "@/lib/contract/spend/sessions";

/** A session as the list shows it. A server component passes it on, so the amount is exact text. */
export type SessionItem = {
  session: string;
  usd: AmountProp;
  calls: number;
  from: string;
  to: string;
  models: string;
};

/** Maps a session of an answer to what the list shows. */
export const toSession = (row: SessionList["sessions"][number]): SessionItem => ({
  session: row.session,
  usd: exactText(row.amount_usd),
  calls: row.call_count,
  from: row.first_at,
  to: row.last_at,
  models: row.models.join(", "),
});
