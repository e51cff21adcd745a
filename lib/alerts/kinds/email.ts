import type { Claimed } from "@/lib/alerts/delivery/claimed";
import { mailContent } from "@/lib/alerts/mail/content";
import type { MailContent } from "@/lib/alerts/mail/send-mail";
import { wordDelivery } from "./wording";

/** A delivery as mail. @param base the service's address */
export function alertMail(delivery: Claimed, base: string): MailContent {
  const { slug, name } = delivery.workspace;
  const text = `You receive this because an admin of the workspace ${name} added your address to its alerts: ${base}/${slug}/alerts`;
  return mailContent(wordDelivery(delivery, base), { text });
}
