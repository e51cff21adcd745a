import { TextLink } from "@/components/auth/auth-card";
import { callerOutboxAccess } from "./outbox/access";

/** Says where to find the mails of an instance that does not send them, with a link for callers who may read them. */
export async function OutboxHint() {
  const access = await callerOutboxAccess();
  if (access === "none") return null;
  return access === "open" ? (
    <p>
      This instance sends no mail. Its messages are in the <TextLink href="/outbox">outbox</TextLink>.
    </p>
  ) : (
    <p>
      This service sends no mail. Whoever runs it reads its messages at the link that it printed when it
      started.
    </p>
  );
}
