"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";

// With `ssr: false`, loading a dialog does not suspend the page.
const NewChannelDialog = dynamic(
  onDemand(() => import("./new-channel-dialog")),
  { ssr: false },
);
const SigningSecretDialog = dynamic(
  onDemand(() => import("./signing-secret-dialog")),
  { ssr: false },
);

/** The button that adds a channel: it opens the form, and for a webhook then a dialog with its signing secret. */
export function NewChannel({
  workspace,
  canMail,
  variant = "default",
}: {
  workspace: string;
  canMail: boolean;
  variant?: "default" | "outline";
}) {
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<{ name: string; secret: string }>();
  return (
    <>
      <Button variant={variant} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Plus aria-hidden="true" />
        Add a channel
      </Button>
      {isOpen ? (
        <NewChannelDialog
          workspace={workspace}
          canMail={canMail}
          onClose={() => setOpen(false)}
          onCreated={({ name, signing_secret: secret }) => {
            setOpen(false);
            if (secret !== null) setCreated({ name, secret });
          }}
        />
      ) : null}
      {created ? (
        <SigningSecretDialog
          secret={created.secret}
          title={`The signing secret of ${created.name}`}
          onClose={() => setCreated(undefined)}
        />
      ) : null}
    </>
  );
}
