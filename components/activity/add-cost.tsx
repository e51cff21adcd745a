"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const AddCostDialog = dynamic(
  onDemand(() => import("./add-cost-dialog")),
  { ssr: false },
);

/** The button that opens the dialog for recording a cost by hand. */
export function AddCost(props: { workspace: string; environment: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Plus aria-hidden="true" />
        Add a cost
      </Button>
      {isOpen ? <AddCostDialog {...props} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
