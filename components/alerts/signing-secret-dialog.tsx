"use client";

import { useState } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { Secret } from "@/components/ui/secret";

/** Shows the secret that signs a webhook, which cannot be shown again. Only the button at the end closes the dialog. */
export default function SigningSecretDialog({
  secret,
  title,
  onClose,
}: {
  secret: string;
  title: string;
  onClose: () => void;
}) {
  const [isLeaving, setLeaving] = useState(false);
  return (
    <Dialog open onOpenChange={() => setLeaving(true)}>
      <DialogContent guarded className="sm:max-w-md">
        <DialogHeader>
          <DialogTitle>{title}</DialogTitle>
          <DialogDescription>
            Your receiver verifies with it that a webhook is ours, by a library of Standard Webhooks. It is
            shown only once.
          </DialogDescription>
        </DialogHeader>
        <Secret secret={secret} label="signing secret" />
        {isLeaving ? (
          <Alert variant="warning">
            The secret cannot be shown again after you close this. If you have stored it, use the button
            below.
          </Alert>
        ) : null}
        <DialogFooter>
          <Button onClick={onClose}>I have stored it</Button>
        </DialogFooter>
      </DialogContent>
    </Dialog>
  );
}
