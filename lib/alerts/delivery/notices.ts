import { mailContent } from "@/lib/alerts/mail/content";
import { canSendMail, sendMail } from "@/lib/alerts/mail/send-mail";
import { reportFailure } from "@/lib/log";
import { serviceAddress } from "@/lib/service-address";
import { attemptTimeoutMs } from "./attempt";
import { type ChannelNotice, claimNotices, noteOwnersTold } from "./delivery-queries";

const noticesARun = 20;

/**
 * Tells the owners of workspaces by mail which channels the service has disabled. Where a mail cannot be sent, it is
 * tried again later.
 * @returns how many channels were told of
 */
export async function tellOwners(): Promise<number> {
  if (!canSendMail()) return 0;
  const notices = await claimNotices(noticesARun);
  const told = await Promise.all(
    notices.map(async (notice) => {
      try {
        await tell(notice);
        return 1;
      } catch (error) {
        reportFailure(error, "The owners of a workspace could not be told that an alert channel is off.");
        return 0;
      }
    }),
  );
  return told.reduce<number>((sum, one) => sum + one, 0);
}

async function tell(notice: ChannelNotice): Promise<void> {
  if (notice.owners.length > 0) {
    const mail = {
      to: notice.owners,
      messageId: `channel-${notice.channel.id}-${Date.now()}`,
      ...noticeMail(notice),
    };
    await sendMail(mail, AbortSignal.timeout(attemptTimeoutMs));
  }
  await noteOwnersTold(notice);
}

function noticeMail({ workspace, channel, reason, failing_since: since }: ChannelNotice) {
  const cause =
    reason === "gone"
      ? "Its receiver answered 410, which says that it wants no more."
      : "Nothing could be delivered to it for a day.";
  const facts: [string, string][] = [
    ["Workspace", workspace.name],
    ["Channel", channel.name],
    ["Kind", channel.kind],
    ["Address", channel.target],
    ...(since ? [["Failing since", `${since.slice(0, 16).replace("T", " ")} UTC`] as [string, string]] : []),
  ];
  const wording = {
    title: `The alert channel ${channel.name} was turned off`,
    text: `${cause} Alerts are not sent to it until an admin of the workspace turns it on again.`,
    facts,
    links: [{ text: "Open the alerts", url: `${serviceAddress()}/${workspace.slug}/alerts` }],
  };
  return mailContent(wording, { text: `You receive this as an owner of the workspace ${workspace.name}.` });
}
