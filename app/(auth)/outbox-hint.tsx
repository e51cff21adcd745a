import { TextLink } from "@/components/auth/auth-card";
import { mayReadOutbox } from "./outbox/access";

/** Where mail goes on a machine that sends none; nothing for those who may not read it. */
export async function OutboxHint() {
  if (!(await mayReadOutbox())) return null;
  return (
    <p>
      This instance sends no mail: it is in the <TextLink href="/outbox">outbox</TextLink>.
    </p>
  );
}
