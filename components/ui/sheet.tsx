"use client";

import type { ReactNode } from "react";
import { Dialog, DialogContent, DialogHeader, DialogTitle } from "./dialog";

/** The content of a dialog along the right edge, for the details of a row. */
export function SheetContent({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <DialogContent shape="right" {...(className && { className })}>
      {children}
    </DialogContent>
  );
}

export { Dialog as Sheet, DialogHeader as SheetHeader, DialogTitle as SheetTitle };
