"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { RecoveryCodes } from "./recovery-codes";
import type { SecondFactorActions } from "./second-factor";

/** Makes recovery codes, or others in the place of those there are, and shows them once. */
export function RenewCodes({ actions, hasCodes }: { actions: SecondFactorActions; hasCodes: boolean }) {
  const router = useRouter();
  const [isAsking, setAsking] = useState(false);
  const [codes, setCodes] = useState<string[]>();
  const renew = async () => {
    const answer = await actions.renewCodes();
    if ("error" in answer) throw new Error(answer.error);
    setCodes(answer.codes);
  };
  const close = () => {
    setCodes(undefined);
    router.refresh();
  };
  return (
    <>
      <Button variant="outline" size="sm" aria-haspopup="dialog" onClick={() => setAsking(true)}>
        {hasCodes ? "Make new codes" : "Make codes"}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={hasCodes ? "Make new recovery codes?" : "Make recovery codes?"}
        confirm={hasCodes ? "Make new codes" : "Make codes"}
        destructive={hasCodes}
        onConfirm={renew}
      >
        {hasCodes
          ? "Those you have are worth nothing from then on."
          : "Ten codes, each of which signs you in once without your authenticator."}
      </ConfirmDialog>
      <Dialog open={codes !== undefined} onOpenChange={close}>
        <DialogContent guarded>
          <DialogHeader>
            <DialogTitle>Your recovery codes</DialogTitle>
            <DialogDescription>
              Keep them where you find them without your phone. They are shown this once.
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
