import type { AlertLink } from "@/lib/alerts/links";
import { mailContent } from "@/lib/alerts/mail/content";
import type { MailContent } from "@/lib/alerts/mail/send-mail";
import type { AlertWords } from "@/lib/alerts/words/values";
import { toInstant } from "@/lib/contract/values/instant";

/** A request as `private.describe_budget_request` returns it. Amounts are exact text in the limit's currency. */
export type BudgetRequestDetails = {
  id: string;
  /** Null if the request is about a key's monthly limit. */
  budget: { id: string; name: string } | null;
  /** The key whose monthly limit it is about. Missing in what was queued before keys could be asked for. */
  limited_key?: { id: string; name: string } | null;
  currency: string;
  amount: string;
  /** What share of the usual limit was asked for; null if an amount was. */
  percent: string | null;
  usual_amount: string;
  until: string;
  time_zone: string;
  reason: string;
  state: "pending" | "approved" | "denied";
  asked_by: string | null;
  key: string | null;
  decided_by: string | null;
  granted_amount: string | null;
  granted_until: string | null;
  answer: string | null;
  at: string;
};

type Workspace = { slug: string; name: string };

const days = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", dateStyle: "medium" });
/** A day in words, for a day as `YYYY-MM-DD`. */
export const dayText = (day: string) => days.format(new Date(day));

/** An amount with its currency. @param amount exact decimal text, which is never converted to a float */
export const amountText = (amount: string, currency: string) =>
  new Intl.NumberFormat("en-US", { style: "currency", currency }).format(amount as `${number}`);

/** Words a request or its decision. The link leads to the page where it is decided (signed in). @param base the service's address */
export function wordBudgetRequest(
  request: BudgetRequestDetails,
  workspace: Workspace,
  base: string,
): AlertWords & { links: AlertLink[]; severity: "info" } {
  const { currency, budget, limited_key: key, percent } = request;
  const asked = amountText(request.amount, currency);
  const facts: [string, string][] = [
    ["Workspace", workspace.name],
    budget ? ["Budget", budget.name] : ["Key", key?.name ?? ""],
    ["Asked for", percent === null ? asked : `${asked} (${percent}% of the limit)`],
    ["Until", dayText(request.until)],
    ["Usual limit", amountText(request.usual_amount, currency)],
  ];
  const page = `${base}/${workspace.slug}/budgets/requests#request-${request.id}`;
  if (request.state === "pending")
    return {
      title: requestTitle(request),
      text: request.reason,
      facts,
      links: [{ text: "Approve or deny", url: page }],
      severity: "info",
    };
  const decider = request.decided_by ?? "Somebody who has left";
  return {
    title: requestTitle(request),
    text: [
      request.state === "approved"
        ? `${decider} raised the limit until ${dayText(request.granted_until ?? request.until)}; the raise then ends by itself.`
        : `${decider} denied the request.`,
      ...(request.answer ? [request.answer] : []),
    ].join(" "),
    facts,
    links: [{ text: "Open the request", url: page }],
    severity: "info",
  };
}

/** One line that says what was requested, or how it was decided. */
export function requestTitle(request: BudgetRequestDetails): string {
  const { currency } = request;
  const [author, limit] = [authorOf(request), limitName(request)];
  if (request.state === "pending")
    return `${author} asks for ${amountText(request.amount, currency)} more of ${limit}`;
  return request.granted_amount === null
    ? `${author} got no more of ${limit}`
    : `${author} got ${amountText(request.granted_amount, currency)} more of ${limit}`;
}

/** What more is asked for of: the name of the budget, or the monthly limit of a key. */
export function limitName({
  budget,
  limited_key: key,
}: {
  budget: { name: string | null } | null;
  limited_key?: { name: string } | null;
}): string {
  return key ? `the monthly limit of the key ${key.name}` : (budget?.name ?? "a deleted budget");
}

function authorOf({ asked_by: person, key }: BudgetRequestDetails): string {
  if (key !== null) return `The key ${key}`;
  return person ?? "Somebody who has left";
}

/** Writes the mail to a member about a request or its decision. @param base the service's address */
export function budgetRequestMail(
  request: BudgetRequestDetails,
  workspace: Workspace,
  base: string,
): MailContent {
  return mailContent(wordBudgetRequest(request, workspace, base), {
    text: `You receive this as a member of the workspace ${workspace.name}, because you asked, or may decide about ${request.budget ? `the budget ${request.budget.name} or are warned by it` : limitName(request)}: ${base}/${workspace.slug}/budgets`,
  });
}

/** The body of a webhook about a request. Amounts are decimal text, so that no parser rounds them. */
export function budgetRequestPayload(request: BudgetRequestDetails, workspace: Workspace, base: string) {
  const { at, state, budget, limited_key: key = null, ...fields } = request;
  const { title, text, links } = wordBudgetRequest(request, workspace, base);
  return {
    type: state === "pending" ? "budget_request.made" : `budget_request.${state}`,
    timestamp: toInstant(Date.parse(at)),
    data: {
      ...fields,
      state,
      budget,
      limited_key: key,
      workspace,
      title,
      summary: text,
      url: links[0]?.url ?? null,
    },
  };
}
