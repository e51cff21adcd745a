import { type Alert, readContext, readFigures } from "@/lib/alerts/alert";
import { type AlertWords, estimate, money, overText, periodText, shareText } from "./values";

const scopes: Record<string, string> = {
  project: "Project",
  feature: "Feature",
  provider: "Provider",
  model: "Model",
  key: "API key",
  user: "Person",
  tag: "Tag",
};

/** The period and the scope of a budget. The id of a key is left out, because it means nothing to people. */
function budgetFacts(alert: Alert, type: string, value: string | null): [string, string][] {
  const scope = alert.project_slug ?? value;
  const named = scopes[type];
  return [
    ["Period", periodText(alert)],
    ...(scope && named && type !== "key" ? [[named, scope] as [string, string]] : []),
  ];
}

/** Words an alert of the rule `budget_threshold`. */
export function thresholdWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "budget_threshold", details: alert.details });
  const { name } = readContext(alert);
  const { percent, amount_usd: amount, spent_usd: spent } = figures;
  // A threshold that was set as an amount has the level `$500`.
  const isAmount = alert.level.startsWith("$");
  const isUsedUp = Number(percent) === 100;
  return {
    title: isUsedUp
      ? `The budget ${name} is used up`
      : `${shareText(percent)} of the budget ${name} is spent`,
    text: `${money(spent)} of ${money(amount)} is spent in the period from ${periodText(alert)}.`,
    facts: [
      ["Spent", money(spent)],
      ["Budget", money(amount)],
      ["Threshold", isAmount ? money(figures.threshold_usd ?? spent) : shareText(percent)],
      ...budgetFacts(alert, figures.scope_type, figures.scope_value),
    ],
  };
}

/** Words an alert of the rule `budget_forecast`. */
export function forecastWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "budget_forecast", details: alert.details });
  const { name, because } = readContext(alert);
  const { amount_usd: amount, spent_usd: spent, forecast_usd: forecast, percent, method } = figures;
  const facts: [string, string][] = [
    ["Forecast", estimate(forecast)],
    ["Budget", money(amount)],
    ["Spent", money(spent)],
    ["Worked out", method],
    ...budgetFacts(alert, figures.scope_type, figures.scope_value),
  ];
  if (alert.state !== "ok") {
    return {
      title: `The budget ${name} is forecast to be exceeded`,
      text: `The period from ${periodText(alert)} is forecast to end at ${estimate(forecast)}, ${shareText(percent)} of ${money(amount)}. ${money(spent)} is spent so far.`,
      facts,
    };
  }
  return {
    title:
      because === "recovered"
        ? `The budget ${name} is forecast to stay within its limit again`
        : `The forecast of the budget ${name} is over`,
    text: overText(
      because,
      `The forecast is ${estimate(forecast)} of ${money(amount)} for the period from ${periodText(alert)}.`,
      "budget",
    ),
    facts,
  };
}

/** Words an alert of the rule `budget_pace`. */
export function paceWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "budget_pace", details: alert.details });
  const { name, because } = readContext(alert);
  const { amount_usd: amount, spent_usd: spent, before_usd: before, percent } = figures;
  const facts: [string, string][] = [
    ["Spent", money(spent)],
    ["Same point of the last period", money(before)],
    ["Budget", money(amount)],
    ...budgetFacts(alert, figures.scope_type, figures.scope_value),
  ];
  if (alert.state !== "ok") {
    return {
      title: `The budget ${name} is spent faster than in its last period`,
      text: `${money(spent)} is spent so far, ${shareText(percent)} of the ${money(before)} at the same point of the last period.`,
      facts,
    };
  }
  return {
    title:
      because === "recovered"
        ? `The budget ${name} is back at its usual pace`
        : `The pace of the budget ${name} is over`,
    text: overText(
      because,
      `${money(spent)} is spent so far, against ${money(before)} at the same point of the last period.`,
      "budget",
    ),
    facts,
  };
}
