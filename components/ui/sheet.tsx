"use client";

import type { ReactNode } from "react";
import { Dialog, DialogClose, DialogContent, DialogHeader, DialogTitle, DialogTrigger } from "./dialog";

/** A dialog along the right edge: details of a row, with the table still in sight. */
export function SheetContent({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <DialogContent shape="right" {...(className && { className })}>
      {children}
    </DialogContent>
  );
}

export {
  Dialog as Sheet,
  DialogClose as SheetClose,
  DialogHeader as SheetHeader,
  DialogTitle as SheetTitle,
  DialogTrigger as SheetTrigger,
};
