import { pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { type Alert, lastDay, readContext, readFigures } from "./alert";

/** An alert in words, for people: on the page, in mails and messages. Nothing is escaped here. */
export type AlertWords = {
  title: string;
  text: string;
  /** Labels and values. */
  facts: [string, string][];
};

const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const estimates = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  trailingZeroDisplay: "stripIfInteger",
});
const days = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", dateStyle: "medium" });
const moments = new Intl.DateTimeFormat("en-US", {
  timeZone: "UTC",
  dateStyle: "medium",
  timeStyle: "short",
});
const counts = new Intl.NumberFormat("en-US");
const shares = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });

/** Dollars with two decimals. @param usd exact decimal text, which is never converted to a float */
export const money = (usd: string) => dollars.format(usd as `${number}`);
/** A forecast in dollars, without cents if its rounding left none. */
const estimate = (usd: string) => estimates.format(usd as `${number}`);
/** A percentage with its thousands separated: "4,120%". @param percent exact decimal text */
const shareText = (percent: string) => `${shares.format(percent as `${number}`)}%`;
const dayText = (day: string) => days.format(new Date(day));
const momentText = (at: string) => `${moments.format(new Date(at))} UTC`;

const scopes: Record<string, string> = {
  project: "Project",
  feature: "Feature",
  provider: "Provider",
  model: "Model",
  key: "API key",
  user: "Person",
  tag: "Tag",
};

/** Words an alert, for every place where it is shown. */
export function wordsOf(alert: Alert): AlertWords {
  const { rule } = alert;
  switch (rule) {
    case "budget_threshold":
      return thresholdWords(alert);
    case "budget_forecast":
      return forecastWords(alert);
    case "budget_pace":
      return paceWords(alert);
    case "unusual_day":
      return unusualDayWords(alert);
    case "key_limit":
      return keyLimitWords(alert);
    case "key_expiry":
      return keyExpiryWords(alert);
    case "unpriced_usage":
      return unpricedWords(alert);
    case "silent_source":
      return silentWords(alert);
    case "bill_coverage":
      return coverageWords(alert);
    case "bill_difference":
      return differenceWords(alert);
    case "provider_limit":
      return limitWords(alert);
  }
}

function periodText(alert: Alert): string {
  const { period } = readContext(alert);
  return period ? `${dayText(period.from)} to ${dayText(lastDay(period.until))}` : "";
}

/** The period and the scope of a budget. The id of a key is left out, because it means nothing to people. */
function budgetFacts(alert: Alert, type: string, value: string | null): [string, string][] {
  const scope = alert.project_slug ?? value;
  const named = scopes[type];
  return [
    ["Period", periodText(alert)],
    ...(scope && named && type !== "key" ? [[named, scope] as [string, string]] : []),
  ];
}

function thresholdWords(alert: Alert): AlertWords {
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

function forecastWords(alert: Alert): AlertWords {
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

function paceWords(alert: Alert): AlertWords {
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

function unusualDayWords(alert: Alert): AlertWords {
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

function keyLimitWords(alert: Alert): AlertWords {
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

function keyExpiryWords(alert: Alert): AlertWords {
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

function unpricedWords(alert: Alert): AlertWords {
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

function coverageWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "bill_coverage", details: alert.details });
  const { because } = readContext(alert);
  const { billed_usd: billed, missing_usd: missing, percent } = figures;
  const facts: [string, string][] = [
    ["Period", periodText(alert)],
    ["Billed", money(billed)],
    ["Not recorded", money(missing)],
  ];
  return alert.state === "ok"
    ? {
        title: "What is billed is recorded",
        text: overText(because, `${shareText(percent)} of what was billed is recorded.`, "workspace"),
        facts,
      }
    : {
        title: `${money(missing)} of the bills is not recorded`,
        text: `${shareText(percent)} of the ${money(billed)} that providers billed from ${periodText(alert)} is recorded.`,
        facts,
      };
}

function differenceWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "bill_difference", details: alert.details });
  const { because } = readContext(alert);
  const [billed, recorded] = [money(figures.billed_usd), money(figures.recorded_usd)];
  const facts: [string, string][] = [
    ["Period", periodText(alert)],
    ["Billed", billed],
    ["Recorded", recorded],
  ];
  return alert.state === "ok"
    ? {
        title: "The bills and what is recorded agree",
        text: overText(
          because,
          `${billed} was billed, and ${recorded} of these days is recorded.`,
          "workspace",
        ),
        facts,
      }
    : {
        title: `The bills differ from what is recorded by ${money(figures.difference_usd)}`,
        text: `Providers billed ${billed} from ${periodText(alert)}, and ${recorded} of the billed days is recorded.`,
        facts,
      };
}

function limitWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "provider_limit", details: alert.details });
  const { name, because } = readContext(alert);
  const { provider, target, limit_state: state, problem, written_usd: written, held_usd: held } = figures;
  const at = (pulledProviders as Record<string, { label: string }>)[provider]?.label ?? provider;
  const [wanted, present] = [written, held].map((usd) => (usd === null ? "none" : money(usd)));
  const facts: [string, string][] = [
    ["Provider", at],
    ...(target ? [["Limited there", target] as [string, string]] : []),
    ["Set", wanted ?? "none"],
    ["Holds", present ?? "none"],
  ];
  if (alert.state === "ok")
    return {
      title: `The limits of the budget ${name} at providers hold`,
      text:
        because === "gone"
          ? "It is not linked to a limit at a provider any more."
          : overText(because, "The provider holds the budget's limit.", "budget"),
      facts,
    };
  return state === "drift"
    ? {
        title: `${at} holds another limit than the budget ${name}`,
        text: `Someone has changed it there: it holds ${held === null ? "no limit" : present}, and ${wanted} was set.`,
        facts,
      }
    : {
        title: `${at} does not take the limit of the budget ${name}`,
        text: problem ?? "It gives no reason.",
        facts,
      };
}

function silentWords(alert: Alert): AlertWords {
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

/** Says why an alert is over. @param recovered the text if the subject recovered */
function overText(
  because: ReturnType<typeof readContext>["because"],
  recovered: string,
  what: string,
): string {
  if (because === "period_over") return "The period is over, and a new one has begun.";
  if (because === "gone")
    return what === "key" ? "It was revoked, or has expired." : `The ${what} was deleted.`;
  return recovered;
}
