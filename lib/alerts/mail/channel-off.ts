import type { ClaimedChannelOff } from "@/lib/alerts/delivery/claimed";
import { serviceAddress } from "@/lib/service-address";
import { mailContent } from "./content";
import type { MailContent } from "./send-mail";

/** The mail to a workspace's owners about a channel that the service turned off. */
export function channelOffMail(
  { name, kind, target, reason, failing_since: since }: NonNullable<ClaimedChannelOff["off"]>,
  workspace: ClaimedChannelOff["workspace"],
): MailContent {
  const cause =
    reason === "gone"
      ? "Its receiver answered 410 (Gone): it no longer accepts alerts."
      : "Nothing could be delivered to it for a day.";
  const facts: [string, string][] = [
    ["Workspace", workspace.name],
    ["Channel", name],
    ["Kind", kind],
    ["Address", target],
    ...(since ? [["Failing since", `${since.slice(0, 16).replace("T", " ")} UTC`] as [string, string]] : []),
  ];
  const wording = {
    title: `The alert channel ${name} was turned off`,
    text: `${cause} Alerts are not sent to it until an admin of the workspace turns it on again.`,
    facts,
    links: [{ text: "Open the alerts", url: `${serviceAddress()}/${workspace.slug}/alerts` }],
  };
  return mailContent(wording, { text: `You receive this as an owner of the workspace ${workspace.name}.` });
}
