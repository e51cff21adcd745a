"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { RecoveryCodes } from "./recovery-codes";
import { type SecondFactorActions, unwrap } from "./second-factor";

/** Creates recovery codes, which replace existing ones, and shows them once. */
export function RenewCodes({ actions, hasCodes }: { actions: SecondFactorActions; hasCodes: boolean }) {
  const router = useRouter();
  const [codes, setCodes] = useState<string[]>();
  const label = hasCodes ? "Create new codes" : "Create codes";
  const close = () => {
    setCodes(undefined);
    router.refresh();
  };
  return (
    <>
      <ConfirmButton
        label={label}
        size="sm"
        title={hasCodes ? "Create new recovery codes?" : "Create recovery codes?"}
        confirm={label}
        destructive={hasCodes}
        refresh={false}
        onConfirm={async () => setCodes((await unwrap(actions.renewCodes())).codes)}
      >
        {hasCodes
          ? "Your existing recovery codes stop working."
          : "You get ten codes. Each lets you sign in once without your authenticator."}
      </ConfirmButton>
      <Dialog open={codes !== undefined} onOpenChange={close}>
        <DialogContent guarded>
          <DialogHeader>
            <DialogTitle>Your recovery codes</DialogTitle>
            <DialogDescription>
              Store them where you can find them without your phone. They are shown only once.
            </DialogDescription>
          </DialogHeader>
          <RecoveryCodes codes={codes ?? []} />
          <DialogFooter>
            <Button onClick={close}>I have stored them</Button>
          </DialogFooter>
        </DialogContent>
      </Dialog>
    </>
  );
}
