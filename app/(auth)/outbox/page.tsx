import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { SiteHeader } from "@/components/shell/site-header";
import { buttonVariants } from "@/components/ui/button";
import { readOutbox } from "@/lib/access/sign-in/local/outbox";
import { callerOutboxAccess } from "./access";

export const metadata: Metadata = { title: "Outbox", robots: { index: false } };

/** The mails that the local sign-in would have sent. Not found for callers who may not read them. */
export default async function OutboxPage() {
  const mails = (await callerOutboxAccess()) === "open" ? await readOutbox() : undefined;
  if (!mails) notFound();
  return (
    <>
      <SiteHeader place="Outbox" />
      <main className="mx-auto max-w-2xl px-4 pt-10 pb-24 sm:px-6">
        <h1 className="font-semibold text-xl tracking-tight">Outbox</h1>
        <p className="mt-1 text-muted-foreground text-sm">
          This instance sends no mail. The messages it would have sent are shown here, to whoever runs it.
        </p>
        {mails.length === 0 ? (
          <p className="mt-8 rounded-lg border border-dashed px-5 py-8 text-center text-muted-foreground text-sm">
            No messages yet. Links for signing in and for resetting a password appear here.
          </p>
        ) : (
          <ul className="mt-8 grid gap-4">
            {mails.map((mail) => (
              <li key={mail.id} className="rounded-lg border bg-card p-5">
                <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
                  <h2 className="font-medium text-sm">{mail.subject}</h2>
                  <time
                    dateTime={mail.created_at.toISOString()}
                    className="text-muted-foreground text-xs tabular-nums"
                  >
                    {mail.created_at.toISOString().slice(0, 16).replace("T", " ")} UTC
                  </time>
                </div>
                <p className="break-all text-muted-foreground text-sm">To {mail.recipient}</p>
                <p className="mt-3 text-sm">{mail.body}</p>
                {mail.link || mail.code ? (
                  <div className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 text-muted-foreground text-sm">
                    {mail.link ? (
                      <a href={mail.link} className={buttonVariants({ size: "sm" })}>
                        Open the link
                      </a>
                    ) : null}
                    {mail.code ? (
                      <span>
                        {mail.link ? "or the code" : "The code is"}{" "}
                        <code className="font-mono text-foreground">{mail.code}</code>
                      </span>
                    ) : null}
                  </div>
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </main>
    </>
  );
}
