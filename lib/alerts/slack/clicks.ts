import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { post } from "@/lib/alerts/delivery/post";
import { amountText, dayText, limitName } from "@/lib/alerts/kinds/budget-request";
import { escapeSlack } from "@/lib/alerts/kinds/slack";
import type { BudgetRequest } from "@/lib/contract/spend/budget-requests";
import { uuid } from "@/lib/contract/values/fields";
import { asService, type UserClaims } from "@/lib/db/transaction";
import { env } from "@/lib/env";
import { type Issue, ServiceError } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import { internet } from "@/lib/outside/connect";
import { serviceAddress } from "@/lib/service-address";
import { decide } from "@/lib/spend/budget-requests/decide";
import { type ApproveClick, readInteraction } from "./interaction";
import { loadSlackSecret } from "./secret";
import { type SlackProof, verifySlackSignature } from "./signature";
import { type TakenClick, takeClick } from "./slack-queries";

/** How long the answer to a click may take. */
const answerTimeoutMs = 10_000;

/** A click that was verified and taken. `token`: of the link that is offered to a Slack user who is linked to nobody. */
export type TakenInteraction = TakenClick & { click: ApproveClick; token: string };

/**
 * Verifies an interaction of Slack and takes it, once.
 * @param channelId of the address that the Slack app posts to
 * @param body the bytes as they were received
 * @returns undefined if there is nothing to do
 * @throws ServiceError invalid_credentials (the same for an unknown channel, a wrong or old signature and a repetition),
 *   validation_failed, unavailable
 */
export async function takeInteraction(
  channelId: string,
  proof: SlackProof,
  body: Uint8Array,
): Promise<TakenInteraction | undefined> {
  const app = uuid.safeParse(channelId).success ? await loadSlackSecret(channelId) : undefined;
  const signature = app && verifySlackSignature(body, proof, app.secret, Date.now());
  if (!app || signature === undefined) throw refused();
  const click = readInteraction(body);
  if (!click) return undefined;
  const { team, user, name } = click;
  const token = generateToken();
  const taken = await asService((client) =>
    takeClick(client, app.workspaceId, channelId, {
      sealed: app.sealed,
      signature,
      team,
      user,
      name,
      hash: hashSecret(token),
    }),
  );
  if (!taken) throw refused();
  return { ...taken, click, token };
}

const refused = () =>
  new ServiceError(
    "invalid_credentials",
    "The signature does not match, is older than five minutes, or was used before. Check the signing secret of the channel.",
  );

/** Decides as a click says, or offers a link, and tells Slack the outcome. Never throws. */
export async function answerInteraction(taken: TakenInteraction): Promise<void> {
  try {
    const reply = taken.member ? await approve(taken, taken.member) : offerLink(taken.token);
    await post(
      { url: taken.click.responseUrl, headers: {}, body: JSON.stringify(reply) },
      {
        network: internet,
        allowed: env().ALERT_ALLOWED_HOSTS,
        signal: AbortSignal.timeout(answerTimeoutMs),
      },
    );
  } catch (error) {
    reportFailure(error, "The outcome of a click was not sent to Slack.");
  }
}

/** A message that only the person who clicked sees. @param text Slack's mrkdwn */
const aside = (text: string) => ({ response_type: "ephemeral", replace_original: false, text });

const offerLink = (token: string) =>
  aside(
    `Your Slack user is not linked to a member of the workspace in Outlay, so nothing was decided. <${serviceAddress()}/workspaces/slack?token=${token}|Link it to your account>, then click again. The link is for you alone, and valid for 15 minutes.`,
  );

async function approve({ click, slug }: TakenInteraction, member: NonNullable<TakenClick["member"]>) {
  const { requestId, until, team, user } = click;
  const claims: UserClaims = {
    sub: member.id,
    email: member.email,
    role: "authenticated",
    session_id: "",
    aal: member.aal,
    caller_address: "Slack",
  };
  try {
    const decided = await decide(claims, slug, requestId, { decision: "approve", until }, `${team} ${user}`);
    return { replace_original: true, text: escapeSlack(describeApproval(decided)) };
  } catch (error) {
    const page = `<${serviceAddress()}/${slug}/budgets/requests#request-${requestId}|Open the request>`;
    if (error instanceof ServiceError) return aside(`Not approved. ${escapeSlack(explain(error))} ${page}`);
    reportFailure(error, "A click in Slack was not carried out.");
    return aside(`Not approved: Outlay could not decide it now. Click again in a moment. ${page}`);
  }
}

function describeApproval(request: BudgetRequest): string {
  const { decision, budget, amount, until, asked_by: person, key } = request;
  const more = amountText(exact(decision?.amount ?? amount), budget?.currency ?? "USD");
  const author = key ? `the key ${key.name}` : (person?.name ?? "somebody who has left");
  return `${decision?.by?.name ?? "A member"} approved ${more} more of ${limitName(request)} until ${dayText(decision?.until ?? until)}, as ${author} asked. The raise then ends by itself.`;
}

const exact = (amount: BudgetRequest["amount"]): string =>
  typeof amount === "number" ? String(amount) : amount.text;

function explain({ message, fields }: ServiceError): string {
  const [issue] = (fields.issues ?? []) as Issue[];
  if (!issue) return message;
  const name = issue.path === "until" ? "last day of the raise" : issue.path;
  return `The ${name} ${issue.message}.`;
}
