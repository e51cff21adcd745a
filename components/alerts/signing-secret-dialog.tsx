"use client";

import { SecretDialog } from "@/components/ui/secret-dialog";

/** Shows the secret that signs a webhook, which cannot be shown again. */
export default function SigningSecretDialog({
  secret,
  title,
  onClose,
}: {
  secret: string;
  title: string;
  onClose: () => void;
}) {
  return (
    <SecretDialog
      secret={secret}
      label="signing secret"
      title={title}
      description="Use it to verify our webhooks, with a library of Standard Webhooks. It is shown only once."
      className="sm:max-w-md"
      onClose={onClose}
    />
  );
}
