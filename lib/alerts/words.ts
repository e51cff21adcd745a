import type { Alert } from "./alert";
import { forecastWords, paceWords, thresholdWords } from "./words/budgets";
import { keyExpiryWords, keyLimitWords, silentWords } from "./words/keys";
import { coverageWords, differenceWords, limitWords } from "./words/providers";
import { refusedWords } from "./words/refused";
import { unpricedWords, unusualDayWords } from "./words/usage";
import type { AlertWords } from "./words/values";

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
    case "refused_costs":
      return refusedWords(alert);
  }
}
