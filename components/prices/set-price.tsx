"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import type { PriceStart } from "./price-view";

// Nobody needs a form before they ask for it. What waits for it is the form alone, not the page (`ssr: false`).
const PriceDialog = dynamic(() => import("./price-dialog"), { ssr: false });

/**
 * The button that sets a price.
 * @param props.of what it is the price of, for the ear; none for the button of the page
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
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        aria-haspopup="dialog"
        onClick={() => setAsking(true)}
        {...(of && { variant: "outline", size: "sm", "aria-label": `${label} of ${of}` })}
      >
        {of ? null : <Plus aria-hidden="true" />}
        {label}
      </Button>
      {isAsking ? <PriceDialog workspace={workspace} start={start} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
