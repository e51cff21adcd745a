"use client";

import { type ComponentProps, type ReactNode, useState } from "react";
import { flushSync } from "react-dom";
import { callApi } from "@/components/requests/api";
import { type Undo, useMutation } from "@/components/requests/use-mutation";
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
import { focusAfterDeletion } from "./focus-after";

type Question = {
  /** A question that names the thing: "Revoke the key CI?" */
  title: string;
  /** What will happen, and what will stop working. */
  children: ReactNode;
  /** What more there is to know before the answer, below the text. It is mounted only while the dialog is open. */
  details?: ReactNode;
  /** The verb of the question, on the button: "Revoke". */
  confirm: string;
  /** False for an action that can be undone. */
  destructive?: boolean;
  /** Performs the action. When it throws a Problem, its message is shown and the dialog stays open. */
  onConfirm: () => Promise<unknown>;
  /** Text of the notice after success. */
  done?: string;
  /** Takes the action back, by a button of the notice. */
  undo?: Undo;
  /** False when the page need not be read again after success. */
  refresh?: boolean;
  /**
   * For an action that removes a row, with the button that opened the dialog: the focus goes to the next row then, or to the
   * element with this id, such as the heading of the list.
   */
  focusAfter?: string;
};

/**
 * What a question does that deletes something which can be restored for ten minutes.
 * @param path its address in the API
 * @param notices the texts after the deletion, and after its undo
 */
export function deletion(
  path: string,
  notices: { done: string; undone: string },
): Pick<Question, "onConfirm" | "done" | "undo"> {
  return {
    onConfirm: () => callApi("DELETE", path),
    done: notices.done,
    undo: { run: () => callApi("POST", `${path}/restore`), done: notices.undone },
  };
}

/** Asks before an action that breaks something, and says what. What cannot be undone says so. */
export function ConfirmDialog({
  open,
  onOpenChange,
  focusAfter,
  ...question
}: Question & { open: boolean; onOpenChange: (open: boolean) => void }) {
  const close = () => {
    // Closing returns the focus to the button, from whose row it is moved.
    flushSync(() => onOpenChange(false));
    if (focusAfter) focusAfterDeletion(focusAfter);
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange}>
      <DialogContent role="alertdialog" className="sm:max-w-md">
        <QuestionContent {...question} onDone={close} />
      </DialogContent>
    </Dialog>
  );
}

/** A button that opens a ConfirmDialog. */
export function ConfirmButton({
  label,
  "aria-label": ariaLabel,
  size = "default",
  ...question
}: Question & { label: string; "aria-label"?: string; size?: ComponentProps<typeof Button>["size"] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="outline"
        size={size}
        aria-haspopup="dialog"
        aria-label={ariaLabel}
        data-row-control
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <ConfirmDialog open={isOpen} onOpenChange={setOpen} {...question} />
    </>
  );
}

function QuestionContent({
  title,
  children,
  details,
  confirm,
  destructive = true,
  onConfirm,
  done,
  undo,
  refresh = true,
  onDone,
}: Omit<Question, "focusAfter"> & { onDone: () => void }) {
  const action = useMutation(() => onConfirm().then(() => true), {
    quiet: true,
    refresh,
    ...(done && { done }),
    undo,
  });
  const answer = async () => {
    if (await action.run()) onDone();
  };
  return (
    <>
      <DialogHeader>
        <DialogTitle>{title}</DialogTitle>
      </DialogHeader>
      <DialogDescription className="[&>strong]:font-medium [&>strong]:text-foreground">
        {children}
      </DialogDescription>
      {details}
      {action.message ? <Alert variant="destructive">{action.message}</Alert> : null}
      <DialogFooter>
        <DialogClose>Cancel</DialogClose>
        <Button
          variant={destructive ? "destructive" : "default"}
          disabled={action.isPending}
          onClick={answer}
        >
          {confirm}
        </Button>
      </DialogFooter>
    </>
  );
}
