import { z } from "zod";
import { dayIn } from "@/lib/bills/read-row";
import {
  type Ask,
  type DayRange,
  inDollars,
  optionalText,
  type Provider,
  type PulledPage,
  toRow,
} from "./provider";

/** `/api/v1/activity`: an item for each day, model and endpoint. Credits are dollars; what one's own keys paid is not in them. */
const activity = z.object({
  data: z.array(
    z.object({
      date: z.string(),
      model: z.string(),
      model_permaslug: optionalText,
      provider_name: optionalText,
      usage: inDollars,
    }),
  ),
});

async function* pull(ask: Ask, { from, until }: DayRange): AsyncGenerator<PulledPage> {
  const { data } = await ask("/api/v1/activity", [], activity);
  const days = new Map<string, PulledPage[number]>();
  for (const { date, model, model_permaslug: dated, provider_name: host, usage } of data) {
    const day = dayIn(date.slice(0, 10));
    if (day === undefined || day < from || day >= until) continue;
    const found = days.get(day) ?? { day, rows: [] };
    days.set(day, found);
    found.rows.push(toRow({ model: dated || model, line: host, amount: usage }));
  }
  yield [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** OpenRouter: the activity of an account, which it keeps for thirty days. */
export const openrouter: Provider = {
  url: "https://openrouter.ai",
  changingDays: 3,
  farthestDays: 30,
  authorize: (key) => ({ Authorization: `Bearer ${key}` }),
  pull,
};
