import { type Alert, readContext, readFigures } from "@/lib/alerts/alert";
import { type AlertWords, counts, money, overText, periodText } from "./values";

/** Words an alert of the rule `refused_costs`. */
export function refusedWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "refused_costs", details: alert.details });
  const { name, because } = readContext(alert);
  const what = alert.subject_type === "key" ? "key" : "budget";
  const limit = what === "key" ? `monthly limit of the key ${name}` : `budget ${name}`;
  const [refused, count] = [money(figures.refused_usd), figures.message_count];
  const facts: [string, string][] = [
    ["Refused", refused],
    ["Messages", counts.format(count)],
    ["Period", periodText(alert)],
  ];
  if (alert.state === "ok")
    return {
      title: because === "gone" ? `The ${what} ${name} is gone` : `The ${limit} no longer refuses as much`,
      text: overText(because, `${refused} is refused in the period.`, what),
      facts,
    };
  return {
    title: `The ${limit} refused ${refused}`,
    text: `It refused to record ${count === 1 ? "one message" : `${counts.format(count)} messages`} from ${periodText(alert)}. The amount may have been spent all the same.`,
    facts,
  };
}
