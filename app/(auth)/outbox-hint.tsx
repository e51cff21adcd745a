import { TextLink } from "@/components/auth/auth-card";
import { callerOutboxAccess } from "./outbox/access";

/** Where the mails of an instance are that sends none: a link for those who may read them. */
export async function OutboxHint() {
  const access = await callerOutboxAccess();
  if (access === "none") return null;
  return access === "open" ? (
    <p>
      This instance sends no mail. Its messages are in the <TextLink href="/outbox">outbox</TextLink>.
    </p>
  ) : (
    <p>
      This instance sends no mail. Whoever runs it can read its messages, by the link that it printed when it
      started.
    </p>
  );
}
