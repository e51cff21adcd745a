import { type Alert, lastDay, readContext, readFigures } from "./alert";

/** A page of the dashboard. */
export type AlertLink = { text: string; url: string };

const scopes = ["project", "feature", "provider", "model", "key", "user", "tag"];

/**
 * The pages for an alert: its subject, then the rows that its figures sum.
 * @param base the service's address, or empty for paths
 */
export function linksOf(alert: Alert, workspace: string, base: string): AlertLink[] {
  const at = `${base}/${workspace}`;
  const { rule, details, subject_id: id } = alert;
  switch (rule) {
    case "budget_threshold":
    case "budget_forecast":
    case "budget_pace":
      return [
        { text: "Open the budget", url: `${at}/budgets#budget-${encodeURIComponent(id)}` },
        { text: "Show what was spent", url: rows(at, alert, scopeOf(alert)) },
      ];
    case "unusual_day": {
      const { day } = readFigures({ rule, details });
      const query = new URLSearchParams({ period: "range", from: day, to: day, environment: "live" });
      return [
        { text: "Open the overview", url: at },
        { text: "Show the day's rows", url: `${at}/activity?${query}` },
      ];
    }
    case "key_limit":
      return [
        { text: "Open the key", url: pageOfKey(at, id) },
        { text: "Show what the key recorded", url: rows(at, alert, { key: id }, null) },
      ];
    case "refused_costs":
      return [
        alert.subject_type === "key"
          ? { text: "Open the key", url: pageOfKey(at, id) }
          : { text: "Open the budget", url: `${at}/budgets#budget-${encodeURIComponent(id)}` },
        {
          text: "Ask for more",
          url: `${at}/budgets/requests?${new URLSearchParams({ [alert.subject_type]: id })}`,
        },
      ];
    case "key_expiry":
      return [{ text: "Open the key", url: pageOfKey(at, id) }];
    case "unpriced_usage": {
      const { model } = readFigures({ rule, details });
      const filter = { model: model ?? "", cost_status: "unpriced" };
      return [
        { text: "Set a price", url: `${at}/settings/prices` },
        { text: "Show the usage", url: rows(at, alert, filter) },
      ];
    }
    case "provider_limit":
      return [{ text: "Open the budget", url: `${at}/budgets#budget-${encodeURIComponent(id)}` }];
    case "bill_difference":
    case "bill_coverage": {
      const month = readContext(alert).period?.from.slice(0, 7);
      return [
        {
          text: "Open the reconciliation",
          url: `${at}/reconciliation${month === undefined ? "" : `?month=${month}`}`,
        },
        { text: "Open the sources", url: `${at}/sources` },
      ];
    }
    case "silent_source":
      return [
        { text: "Open the source", url: `${at}/sources/${encodeURIComponent(id)}` },
        {
          text: "Show what it sent",
          url: `${at}/activity?${new URLSearchParams({ key: id, period: "all" })}`,
        },
      ];
  }
}

/** What to do about an alert, in a sentence or two. */
export function adviceOf({ rule, state }: Pick<Alert, "rule" | "state">): string {
  switch (rule) {
    case "budget_threshold":
      return "See what the money went to. Then lower that spend, or raise the budget where it was planned.";
    case "budget_forecast":
      return "See what grew. Lower the spend for the rest of the period, or raise the budget before it is used up.";
    case "budget_pace":
      return "See what costs more than in the last period, and whether that was planned.";
    case "unusual_day":
      return "See what cost so much on that day. If it was a mistake, void the costs; if it goes on, stop what causes it.";
    case "key_limit":
      return state === "alert"
        ? "The key records nothing more this month. Raise its limit, or find out what used it up."
        : "See what the key recorded. Raise its limit before it is used up, or lower the usage.";
    case "key_expiry":
      return state === "alert"
        ? "If programs still use the key, give them a new one, and then revoke this one."
        : "Extend the key, or replace it in the programs that use it.";
    case "refused_costs":
      return "See what still calls models, and stop it or ask for more. What was refused is not recorded, and can be booked from the provider's bill.";
    case "unpriced_usage":
      return "Set a price for the model, or correct its name where programs send it.";
    case "bill_coverage":
      return "See which usage no source reports, and set up a source for it. What stays missing can be booked as an adjustment.";
    case "bill_difference":
      return "See what the difference consists of: usage that no source reports, other prices, or costs that are recorded twice.";
    case "provider_limit":
      return "Set the budget's limit again in the menu of the limit, or accept the provider's. If the provider refuses it, give its account a key that may set limits.";
    case "silent_source":
      return "Check that the program runs and that its key is set. If it was shut down, revoke its key.";
  }
}

/** The page of a key, which also has its settings. */
const pageOfKey = (at: string, id: string) => `${at}/spend/key?${new URLSearchParams({ name: id })}`;

/** The filter of a budget's scope. */
function scopeOf({ details, project_slug: project }: Alert): Record<string, string> {
  const { scope_type: type, scope_value: value }: Record<string, unknown> = Object(details);
  const scope = type === "project" ? project : value;
  return scopes.includes(String(type)) && scope ? { [String(type)]: String(scope) } : {};
}

/** The link to the rows of the alert's period. @param environment null for both */
function rows(
  at: string,
  alert: Alert,
  filter: Record<string, string>,
  environment: "live" | null = "live",
): string {
  const { period } = readContext(alert);
  const query = new URLSearchParams({
    ...(period && { period: "range", from: period.from, to: lastDay(period.until) }),
    ...(environment && { environment }),
    ...filter,
  });
  return `${at}/activity?${query}`;
}
