import { canSendMail, sendMail } from "@/lib/alerts/mail/send-mail";
import { reportFailure } from "@/lib/log";
import { claimDeletionNotices, forgetNotice, type Notice } from "./notice-queries";
import { noticeMail } from "./wording";

const noticesARun = 20;
const timeoutMs = 20_000;

/**
 * Mails what people are told of deletions. A mail that cannot be sent is tried again later, for three days.
 * @returns how many were sent
 */
export async function mailNotices(): Promise<number> {
  if (!canSendMail()) return 0;
  const notices = await claimDeletionNotices(noticesARun);
  const sent = await Promise.all(notices.map(send));
  return sent.filter(Boolean).length;
}

async function send(notice: Notice): Promise<boolean> {
  try {
    const mail = { to: [notice.recipient], messageId: `notice-${notice.id}`, ...noticeMail(notice) };
    await sendMail(mail, AbortSignal.timeout(timeoutMs));
    await forgetNotice(notice.id);
    return true;
  } catch (error) {
    reportFailure(error, "A mail about a deletion could not be sent; it will be tried again.");
    return false;
  }
}
