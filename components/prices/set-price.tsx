"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";
import type { PriceStart } from "./price-view";

// With `ssr: false`, loading the dialog does not suspend the page.
const PriceDialog = dynamic(
  onDemand(() => import("./price-dialog")),
  { ssr: false },
);

/**
 * The button that opens the dialog for a price.
 * @param props.of what the price is for, as the accessible name of a button in a table; undefined for the page's button
 */
export function SetPrice({
  workspace,
  start,
  label,
  of,
}: {
  workspace: string;
  start: PriceStart;
  label: string;
  of?: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        {...(of && { variant: "outline", size: "sm", "aria-label": `${label} of ${of}` })}
      >
        {of ? null : <Plus aria-hidden="true" />}
        {label}
      </Button>
      {isOpen ? <PriceDialog workspace={workspace} start={start} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
