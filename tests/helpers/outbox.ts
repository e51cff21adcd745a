import { readOutbox } from "@/lib/access/sign-in/local/outbox";
import { anyProject, projectMailsTo } from "./hosted-sign-in";

/** The mails to an address, the newest first. */
export async function mailsTo(email: string) {
  const project = anyProject();
  if (project) return projectMailsTo(project, email);
  return (await readOutbox())?.filter(({ recipient }) => recipient === email.toLowerCase()) ?? [];
}

/** The latest mail to an address. */
export async function latestMail(email: string) {
  const [mail] = await mailsTo(email);
  if (!mail) throw new Error(`There is no mail to ${email}.`);
  return mail;
}

/** Opens the link of the latest mail to an address, as a browser does. @returns the redirect */
export async function openLink(email: string): Promise<URL> {
  const { link } = await latestMail(email);
  if (!link) throw new Error(`The mail to ${email} has no link.`);
  const answer = await fetch(link, { redirect: "manual" });
  if (answer.status !== 303) throw new Error(`The link answered ${answer.status}: ${await answer.text()}`);
  return new URL(answer.headers.get("location") ?? "");
}

/** The token in a mail's link. */
export const tokenOf = (link: string | null): string => new URL(link ?? "").searchParams.get("token") ?? "";
