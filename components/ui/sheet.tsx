"use client";

import type { ReactNode } from "react";
import { Dialog, DialogContent, DialogHeader, DialogTitle } from "./dialog";

/** A dialog along the right edge: details of a row, with the table still in sight. */
export function SheetContent({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <DialogContent shape="right" {...(className && { className })}>
      {children}
    </DialogContent>
  );
}

export { Dialog as Sheet, DialogHeader as SheetHeader, DialogTitle as SheetTitle };
