"use client";

import { X } from "lucide-react";
import {
  type ComponentProps,
  createContext,
  type ReactNode,
  use,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";
import { Button } from "./button";
import { cn } from "./cn";
import { openModal } from "./modal-dialogs";

type State = { isOpen: boolean; setOpen: (open: boolean) => void; titleId: string };

const DialogState = createContext<State | null>(null);

/** The state of the dialog around a component. @throws Error outside of a Dialog */
export function useDialog(): State {
  const state = use(DialogState);
  if (!state) throw new Error("useDialog needs a <Dialog> around it.");
  return state;
}

/**
 * A modal dialog. It uses the native `<dialog>`, so the browser handles the focus, Escape and the page behind. Its content
 * is mounted only while it is open, so that its state starts fresh each time.
 */
export function Dialog({
  open: isOpen,
  onOpenChange: setOpen,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}) {
  const titleId = useId();
  const state = useMemo(() => ({ isOpen, setOpen, titleId }), [isOpen, setOpen, titleId]);
  return <DialogState value={state}>{children}</DialogState>;
}

/** A button that closes the dialog. */
export function DialogClose({ onClick, variant = "outline", ...props }: ComponentProps<typeof Button>) {
  const { setOpen } = useDialog();
  return (
    <Button
      variant={variant}
      onClick={(event) => {
        onClick?.(event);
        setOpen(false);
      }}
      {...props}
    />
  );
}

const shapes = {
  /** In the middle of the page; on a phone, at its bottom. */
  center:
    "m-0 mt-auto w-full max-w-none rounded-t-xl border-t pb-[env(safe-area-inset-bottom)] starting:translate-y-4 sm:m-auto sm:w-[calc(100%-2rem)] sm:max-w-lg sm:rounded-xl sm:border sm:pb-0 sm:starting:translate-y-1",
  /** Along the right edge; on a phone, as wide as the screen. */
  right: "m-0 ml-auto h-dvh max-h-none w-full max-w-none border-l sm:max-w-xl starting:translate-x-4",
};

/**
 * The content of a dialog. A click outside closes it, unless it is `guarded`, which is for content that would be lost, such
 * as a secret that is shown only once. Escape calls `onOpenChange`, which may keep the dialog open.
 */
export function DialogContent({
  shape = "center",
  role,
  guarded = false,
  className,
  children,
}: {
  shape?: keyof typeof shapes;
  role?: "alertdialog";
  guarded?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const { isOpen } = useDialog();
  if (!isOpen) return null;
  return (
    <OpenDialog shape={shape} role={role} guarded={guarded} className={className}>
      {children}
    </OpenDialog>
  );
}

function OpenDialog({
  shape,
  role,
  guarded,
  className,
  children,
}: {
  shape: keyof typeof shapes;
  role: "alertdialog" | undefined;
  guarded: boolean;
  className: string | undefined;
  children: ReactNode;
}) {
  const { setOpen, titleId } = useDialog();
  const ref = useRef<HTMLDialogElement>(null);
  // Closed before it is removed, because only closing returns the focus to where it was.
  useLayoutEffect(() => (ref.current ? openModal(ref.current) : undefined), []);
  const onItself = (event: { target: EventTarget; currentTarget: EventTarget }) =>
    event.target === event.currentTarget;
  return (
    <dialog
      ref={ref}
      role={role}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // A file input inside the dialog sends a `cancel` event too.
        if (!onItself(event)) return;
        event.preventDefault();
        setOpen(false);
      }}
      onKeyDown={(event) => {
        // The browser closes the dialog at the second Escape even if `cancel` is prevented; a key press can always be prevented.
        if (!guarded || event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        setOpen(false);
      }}
      onPointerDown={(event) => {
        // A click on the element itself is a click on its backdrop, because its content is in a child.
        if (!guarded && onItself(event)) setOpen(false);
      }}
      className={cn(
        // Resets the alignment and wrapping of a table cell that the dialog may be in.
        "fixed inset-0 max-h-[92dvh] overflow-hidden whitespace-normal bg-popover p-0 text-left text-popover-foreground shadow-xl outline-none transition-[opacity,translate] duration-120 starting:opacity-0 backdrop:bg-black/45",
        shapes[shape],
        className,
      )}
    >
      <div className="relative flex h-full max-h-[inherit] flex-col gap-5 overflow-y-auto overscroll-contain p-5 sm:p-6">
        {children}
        <Button
          variant="ghost"
          size="icon"
          aria-label="Close"
          onClick={() => setOpen(false)}
          className="absolute top-3 right-3 size-8 text-muted-foreground"
        >
          <X aria-hidden="true" />
        </Button>
      </div>
    </dialog>
  );
}

/** The title and the description of a dialog. */
export function DialogHeader({ className, ...props }: ComponentProps<"div">) {
  return <div className={cn("grid gap-1.5 pr-8", className)} {...props} />;
}

/** The title of a dialog, which is also its accessible name. */
export function DialogTitle({ className, children, ...props }: ComponentProps<"h2">) {
  const { titleId } = useDialog();
  return (
    <h2 id={titleId} className={cn("font-semibold text-base leading-snug", className)} {...props}>
      {children}
    </h2>
  );
}

/** The text below the title of a dialog. */
export function DialogDescription({ className, ...props }: ComponentProps<"p">) {
  return <p className={cn("text-muted-foreground text-sm", className)} {...props} />;
}

/** The buttons of a dialog, the main one last. On a phone, they are below each other, the main one first. */
export function DialogFooter({ className, ...props }: ComponentProps<"div">) {
  return (
    <div
      className={cn(
        "flex flex-col-reverse gap-2 pt-1 sm:flex-row sm:justify-end max-sm:[&>button]:h-10",
        className,
      )}
      {...props}
    />
  );
}
