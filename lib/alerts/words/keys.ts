import { type Alert, readContext, readFigures } from "@/lib/alerts/alert";
import { type AlertWords, momentText, money, overText, periodText } from "./values";

/** Words an alert of the rule `key_limit`. */
export function keyLimitWords(alert: Alert): AlertWords {
  const {
    amount_usd: amount,
    spent_usd: spent,
    refused_usd: refused = "0",
    on_limit: onLimit,
  } = readFigures({ rule: "key_limit", details: alert.details });
  const isRefused = Number(refused) > 0;
  const { name, because } = readContext(alert);
  const facts: [string, string][] = [
    ["Spent", money(spent)],
    ["Monthly limit", amount === null ? "None" : money(amount)],
    ...(isRefused ? [["Refused by it", money(refused)] as [string, string]] : []),
    ["Month", periodText(alert)],
  ];
  const figures =
    amount === null
      ? `${money(spent)} is spent, and there is no limit.`
      : `${money(spent)} of ${money(amount)} is spent in the month.`;
  if (alert.state === "ok") {
    return {
      title:
        because === "period_over"
          ? `The monthly limit of the key ${name} is reset`
          : because === "gone"
            ? `The key ${name} is gone`
            : `The key ${name} is no longer near its monthly limit`,
      text: overText(because, figures, "key"),
      facts,
    };
  }
  if (alert.state !== "alert")
    return { title: `The key ${name} is near its monthly limit`, text: figures, facts };
  const consequence = isRefused
    ? `The limit refused ${money(refused)}; it may have been spent.`
    : onLimit === "record"
      ? "Costs past the limit are recorded and marked."
      : "The key cannot record anything until the month ends or the limit is raised.";
  const isUsedUp = amount === null || Number(spent) >= Number(amount);
  return {
    title: isUsedUp
      ? `The monthly limit of the key ${name} is used up`
      : `The monthly limit of the key ${name} refuses costs`,
    text: `${figures} ${consequence}`,
    facts,
  };
}

/** Words an alert of the rule `key_expiry`. */
export function keyExpiryWords(alert: Alert): AlertWords {
  const { expires_at: at } = readFigures({ rule: "key_expiry", details: alert.details });
  const { name, because } = readContext(alert);
  const facts: [string, string][] = [["Expires", at === null ? "Never" : momentText(at)]];
  if (alert.state === "ok") {
    return {
      title: because === "gone" ? `The key ${name} is gone` : `The key ${name} no longer expires soon`,
      text: overText(
        because,
        at === null ? "It does not expire." : `It expires on ${momentText(at)}.`,
        "key",
      ),
      facts,
    };
  }
  const when = at === null ? "" : momentText(at);
  return alert.state === "alert"
    ? {
        title: `The key ${name} has expired`,
        text: `It expired on ${when}. Its requests are refused.`,
        facts,
      }
    : {
        title: `The key ${name} expires soon`,
        text: `It expires on ${when}. Extend it or make a new one.`,
        facts,
      };
}

/** Words an alert of the rule `silent_source`. */
export function silentWords(alert: Alert): AlertWords {
  const { last_at: at, hours } = readFigures({ rule: "silent_source", details: alert.details });
  const { name, because } = readContext(alert);
  const facts: [string, string][] = [["Last seen", momentText(at)]];
  const span = hours === 1 ? "an hour" : `${hours} hours`;
  return alert.state === "ok"
    ? {
        title: because === "gone" ? `The source ${name} is gone` : `The source ${name} sends again`,
        text: overText(because, `It sent something on ${momentText(at)}.`, "key"),
        facts,
      }
    : {
        title: `The source ${name} sends nothing`,
        text: `Nothing came in from it for more than ${span}. The last was on ${momentText(at)}.`,
        facts,
      };
}
