"use client";

import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";

// Nobody needs a form before they ask for it. What waits for it is the form alone, not the page (`ssr: false`).
const NewBudgetDialog = dynamic(() => import("./new-budget-dialog"), { ssr: false });

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
