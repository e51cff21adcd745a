import { TextLink } from "@/components/auth/auth-card";
import { mayReadOutbox } from "./outbox/access";

/** A link to the outbox of an instance that sends no mail; nothing for users who may not read it. */
export async function OutboxHint() {
  if (!(await mayReadOutbox())) return null;
  return (
    <p>
      This instance sends no mail. Its messages are in the <TextLink href="/outbox">outbox</TextLink>.
    </p>
  );
}
