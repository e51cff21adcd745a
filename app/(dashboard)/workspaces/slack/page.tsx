import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { LinkSlack } from "@/components/account/link-slack";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { currentUser } from "@/lib/access/sign-in/page-session";
import { withNext } from "@/lib/access/sign-in/safe-path";
import { readOffer } from "@/lib/alerts/slack/links";

// Whoever has the address can link the Slack user in it, so it is not sent as a referrer and the page is not indexed.
export const metadata: Metadata = {
  title: "Link your Slack user",
  referrer: "no-referrer",
  robots: { index: false },
};

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

/**
 * The target of the link that Slack shows after the click of a user who is linked to nobody. It names the Slack user, because whoever
 * controls that user decides as the reader afterwards.
 */
export default async function SlackPage({ searchParams }: Props) {
  const { token } = await searchParams;
  const given = typeof token === "string" && token.length <= 100 ? token : "";
  const claims = await currentUser();
  if (!claims) redirect(withNext("/sign-in", `/workspaces/slack?${new URLSearchParams({ token: given })}`));
  const offer = given === "" ? null : await readOffer(claims, given);
  const footer = (
    <p>
      Signed in as {claims.email}. <TextLink href="/workspaces">Go to your workspaces</TextLink>
    </p>
  );
  if (!offer)
    return (
      <AuthCard
        title="Link your Slack user"
        about="This link was used, is older than 15 minutes, or belongs to a workspace that you are not a member of. Click the button in Slack again for another one."
        footer={footer}
      />
    );
  const { slack_name: name, workspace, channel, may_decide: mayDecide } = offer;
  if (!mayDecide)
    return (
      <AuthCard
        title="You do not decide about requests"
        about={`In ${workspace}, owners and admins decide about requests for more of a budget, and the owner of a budget about its own. You are none of them, so a Slack user is of no use to you here.`}
        footer={footer}
      />
    );
  return (
    <AuthCard
      title={`Link the Slack user ${name}?`}
      about={`From then on, whoever uses this Slack user approves requests for more of a budget as you, with the button of the channel ${channel} of ${workspace}. Link it only if ${name} is you and you have just clicked the button. If somebody else sent you this link, close the page.`}
      footer={footer}
    >
      <LinkSlack token={given} name={name} />
    </AuthCard>
  );
}
