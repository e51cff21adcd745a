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
import { focusAfterDeletion, focusResult } from "./focus-after";

type Question = {
  /** A question that names the thing: "Revoke the key CI?" */
  title: string;
  /** What will happen, and what will stop working. */
  children: ReactNode;
  /** Further details below the text. They are mounted only while the dialog is open. */
  details?: ReactNode;
  /** The verb of the question, on the button: "Revoke". */
  confirm: string;
  /** False for an action that can be undone. */
  destructive?: boolean;
  /** Performs the action. When it throws a Problem, its message is shown and the dialog stays open. */
  onConfirm: () => Promise<unknown>;
  /** Text of the notice after success. */
  done?: string;
  /** Undoes the action, by a button of the notice. */
  undo?: Undo;
  /** False if the page need not be read again after success. */
  refresh?: boolean;
  /**
   * For an action that removes the row with the button that opened the dialog: afterwards the focus moves to the next row, or to
   * the element with this id, such as the heading of the list.
   */
  focusAfter?: string;
  /** For an action after which the button disappears and its row stays: the id of the element that gets the focus, such as the row. */
  focusStays?: string;
};

/**
 * The props of a ConfirmDialog that deletes something which can be restored for ten minutes.
 * @param path its path in the API
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

/** Asks for confirmation before an action that has consequences, explains them, and says if the action cannot be undone. */
export function ConfirmDialog({
  open,
  onOpenChange,
  focusAfter,
  focusStays,
  ...question
}: Question & { open: boolean; onOpenChange: (open: boolean) => void }) {
  const close = () => {
    // Closes the dialog first, which returns the focus to the button, before the focus moves on from the button's row.
    flushSync(() => onOpenChange(false));
    if (focusAfter) focusAfterDeletion(focusAfter);
    if (focusStays) focusResult(`#${focusStays}`);
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
}: Omit<Question, "focusAfter" | "focusStays"> & { onDone: () => void }) {
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
        {/* Not on a field of the details: Space would change it. */}
        <DialogClose data-first-focus>Cancel</DialogClose>
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
