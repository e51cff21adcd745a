"use client";

import { type ReactNode, useState } from "react";
import { Alert } from "./alert";
import { Button } from "./button";
import {
  Dialog,
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "./dialog";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A question that names what it is about: "Revoke the key CI?" */
  title: string;
  /** What will happen, and what will stop working. */
  children: ReactNode;
  /** The verb of the question: "Revoke". */
  confirm: string;
  /** False for what can be taken back. */
  destructive?: boolean;
  /** Does it. What it throws is shown, and the dialog stays. */
  onConfirm: () => Promise<void>;
};

/** Asks before something that cannot be taken back, and says what will break. */
export function ConfirmDialog({ open, onOpenChange, ...question }: Props) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange}>
      <DialogContent role="alertdialog" className="sm:max-w-md">
        <Question {...question} onDone={() => onOpenChange(false)} />
      </DialogContent>
    </Dialog>
  );
}

function Question({
  title,
  children,
  confirm,
  destructive = true,
  onConfirm,
  onDone,
}: Omit<Props, "open" | "onOpenChange"> & { onDone: () => void }) {
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const answer = async () => {
    setPending(true);
    setProblem(undefined);
    try {
      await onConfirm();
      onDone();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "That did not work. Try again.");
      setPending(false);
    }
  };
  return (
    <>
      <DialogHeader>
        <DialogTitle>{title}</DialogTitle>
      </DialogHeader>
      <DialogDescription className="[&>strong]:font-medium [&>strong]:text-foreground">
        {children}
      </DialogDescription>
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <DialogFooter>
        <DialogClose>Cancel</DialogClose>
        <Button variant={destructive ? "destructive" : "default"} disabled={isPending} onClick={answer}>
          {confirm}
        </Button>
      </DialogFooter>
    </>
  );
}
