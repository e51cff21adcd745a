import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import type { SentMail } from "@/tests/helpers/hosted-sign-in";

/** What mails with a link contain: the code too, which Supabase Auth's own templates leave out. */
const template = '<p><a href="{{ .ConfirmationURL }}">Open</a></p><p>{{ .Token }}</p>';

/**
 * Starts a mail server that keeps what it receives, and an address that answers with the mails to `?to=`, the newest first, and
 * with the template of mails at `/template`.
 * Supabase Auth sends a mail before it answers the request that causes it.
 */
export async function startMailSink(): Promise<{ url: string; smtpPort: number; stop(): Promise<void> }> {
  const mails: SentMail[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onData: (stream, session, done) => {
      text(stream).then((raw) => {
        for (const { address } of session.envelope.rcptTo) mails.unshift(readMail(address, raw));
        done();
      }, done);
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
    if (pathname === "/template") return response.end(template);
    const to = searchParams.get("to");
    response.end(JSON.stringify(mails.filter(({ recipient }) => recipient === to)));
  });
  await once(http.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    smtpPort: (smtp.server.address() as AddressInfo).port,
    stop: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await new Promise<void>((resolve) => smtp.close(resolve));
    },
  };
}

/** Reads the subject, the first link and the code from a mail in the format that Supabase Auth's own templates have. */
function readMail(recipient: string, raw: string): SentMail {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const body = rest
    .join("\n\n")
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll("&amp;", "&");
  return {
    recipient: recipient.toLowerCase(),
    subject: /^Subject: (.*)$/m.exec(head)?.[1]?.trim() ?? "",
    body,
    link: /href="([^"]+)"/.exec(body)?.[1] ?? /https?:\/\/[^\s<>"]+/.exec(body)?.[0] ?? null,
    code: /(?<![\w-])\d{6}(?![\w-])/.exec(body.replace(/href="[^"]*"/g, ""))?.[0] ?? null,
  };
}
