"use client";

import { type ReactNode, useState } from "react";
import { Alert } from "./alert";
import { Button } from "./button";
import { Dialog, DialogContent, DialogDescription, DialogFooter, DialogHeader, DialogTitle } from "./dialog";
import { Secret } from "./secret";

/**
 * Shows a secret that cannot be shown again. Only the button at the end closes the dialog: Escape and the close button show a
 * warning, and a click outside does nothing.
 * @param label the name of the secret, as in `Secret`
 * @param children the content below the secret: ways to use it
 */
export function SecretDialog({
  secret,
  label,
  title,
  description,
  className,
  onClose,
  children,
}: {
  secret: string;
  label: string;
  title: string;
  description: ReactNode;
  className: string;
  onClose: () => void;
  children?: ReactNode;
}) {
  const [isLeaving, setLeaving] = useState(false);
  return (
    <Dialog open onOpenChange={() => setLeaving(true)}>
      <DialogContent guarded className={className}>
        <DialogHeader>
          <DialogTitle>{title}</DialogTitle>
          <DialogDescription>{description}</DialogDescription>
        </DialogHeader>
        <Secret secret={secret} label={label} />
        {children}
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
