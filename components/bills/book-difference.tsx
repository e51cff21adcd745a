"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";
import type { BookingDialogProps } from "./booking-dialog";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const BookingDialog = dynamic(
  onDemand(() => import("./booking-dialog")),
  { ssr: false },
);

/** A button that opens the dialog to book the difference between bills and records. */
export function BookDifference(props: Omit<BookingDialogProps, "onClose">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Book the difference
      </Button>
      {isOpen ? <BookingDialog {...props} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
