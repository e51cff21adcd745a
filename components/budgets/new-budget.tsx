"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";

// Nobody needs a form before they ask for it.
const NewBudgetDialog = dynamic(() => import("./new-budget-dialog"));

/** The button that sets a budget. */
export function NewBudget({ workspace }: { workspace: string }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setAsking(true)}>
        <Plus aria-hidden="true" />
        Set a budget
      </Button>
      {isAsking ? <NewBudgetDialog workspace={workspace} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
