import { type Alert, readContext, readFigures } from "@/lib/alerts/alert";
import { type AlertWords, counts, dayText, money, overText } from "./values";

/** Words an alert of the rule `unusual_day`. */
export function unusualDayWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "unusual_day", details: alert.details });
  const { day, time_zone: zone, spent_usd: spent, median_usd: median, above_usd: above, compared } = figures;
  return {
    title: `${dayText(day)} costs far more than usual`,
    text: `${money(spent)} was spent on ${dayText(day)} (${zone}), against a median of ${money(median)} on the same weekdays of the four weeks before.`,
    facts: [
      ["Spent", money(spent)],
      ["Median", money(median)],
      ["Unusual from", money(above)],
      ...compared.map(({ day: other, spent_usd: usd }): [string, string] => [dayText(other), money(usd)]),
    ],
  };
}

/** Words an alert of the rule `unpriced_usage`. */
export function unpricedWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "unpriced_usage", details: alert.details });
  const { name, because } = readContext(alert);
  const lines =
    figures.line_count === 1 ? "1 usage line" : `${counts.format(figures.line_count)} usage lines`;
  const facts: [string, string][] = [
    ["Model", figures.model ?? "None"],
    ...(figures.provider ? [["Provider", figures.provider] as [string, string]] : []),
    ["Without a price", lines],
  ];
  return alert.state === "ok"
    ? {
        title: `All usage of ${name} has a price`,
        text: overText(because, "Unpriced usage is priced now.", "model"),
        facts,
      }
    : {
        title: `Usage of ${name} has no price`,
        text: `${lines} ${figures.line_count === 1 ? "counts" : "count"} as $0 until a price is set. Recorded usage is priced then.`,
        facts,
      };
}
