import type { ClaimedChannelOff, ClaimedDeletion } from "@/lib/alerts/delivery/claimed";
import { serviceAddress } from "@/lib/service-address";
import { mailContent } from "./content";
import type { MailContent } from "./send-mail";

const dayOf = (ms: number | null) => (ms === null ? "" : new Date(ms).toISOString().slice(0, 10));

/** The mail about a deletion or its undo. */
export function deletionMail(notice: ClaimedDeletion): MailContent {
  if (notice.kind === "workspace_deleted" || notice.kind === "workspace_restored")
    return workspaceMail(notice.kind, notice.details);
  const isDeleted = notice.kind === "account_deleted";
  const day = dayOf(notice.details.erased_at);
  return mailContent(
    {
      title: isDeleted ? "Your Outlay account was deleted" : "Your Outlay account was restored",
      text: isDeleted
        ? `You are signed out everywhere. Your account is erased on ${day}. To keep it, sign in before then.`
        : "You signed in, so your account is not erased. Connected assistants have to be connected again.",
      facts: isDeleted ? [["Erased on", `${day} (UTC)`]] : [],
      links: [
        {
          text: isDeleted ? "Sign in to keep the account" : "Open Outlay",
          url: `${serviceAddress()}/sign-in`,
        },
      ],
    },
    {
      text: "You receive this because it is about your own account. If this was not you, sign in and change your password.",
    },
  );
}

function workspaceMail(
  kind: "workspace_deleted" | "workspace_restored",
  {
    name,
    slug,
    role,
    by,
    erased_at: erasedAt,
  }: Extract<ClaimedDeletion, { kind: "workspace_deleted" | "workspace_restored" }>["details"],
): MailContent {
  const isDeleted = kind === "workspace_deleted";
  const day = dayOf(erasedAt);
  const who = by ?? "An owner";
  const remedy =
    role === "owner" ? "As an owner, you can undo this until then." : "Until then, an owner can undo this.";
  return mailContent(
    {
      title: isDeleted ? `The workspace ${name} was deleted` : `The workspace ${name} was restored`,
      text: isDeleted
        ? `${who} deleted the workspace. Its keys and connections are refused, and alerts and reports stop. Everything in it is erased on ${day}. ${remedy}`
        : `${who} undid the deletion of the workspace. Everything in it is as it was, and its keys and connections work again.`,
      facts: [["Workspace", name], ...(isDeleted ? [["Erased on", `${day} (UTC)`] as [string, string]] : [])],
      links: [
        {
          text: isDeleted && role === "owner" ? "Undo the deletion" : "Open the workspace",
          url: `${serviceAddress()}/${slug}`,
        },
      ],
    },
    { text: `You receive this as a member of the workspace ${name}.` },
  );
}

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
    links: [{ text: "Open the channels", url: `${serviceAddress()}/${workspace.slug}/alerts/rules` }],
  };
  return mailContent(wording, { text: `You receive this as an owner of the workspace ${workspace.name}.` });
}
