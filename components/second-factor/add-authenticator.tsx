"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { AuthenticatorSetup } from "./authenticator-setup";
import type { SecondFactorActions } from "./second-factor";

/** The button that opens the dialog for adding an authenticator app. */
export function AddAuthenticator({
  actions,
  suggestedName,
  isFirst,
}: {
  actions: SecondFactorActions;
  suggestedName: string;
  isFirst: boolean;
}) {
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    router.refresh();
  };
  return (
    <>
      <Button
        variant={isFirst ? "default" : "outline"}
        aria-haspopup="dialog"
        className="max-sm:h-10"
        onClick={() => setOpen(true)}
      >
        Add an authenticator
      </Button>
      <Dialog open={isOpen} onOpenChange={close}>
        <DialogContent guarded>
          <DialogHeader>
            <DialogTitle>Add an authenticator</DialogTitle>
            <DialogDescription>
              {isFirst
                ? "After your password or link, signing in will ask for a code from the app. Your other sessions are signed out."
                : "You can sign in with a code from any of your authenticators."}
            </DialogDescription>
          </DialogHeader>
          <AuthenticatorSetup
            actions={actions}
            suggestedName={suggestedName}
            onFinish={close}
            finish="I have stored them"
          />
        </DialogContent>
      </Dialog>
    </>
  );
}
