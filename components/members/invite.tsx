"use client";

import { UserPlus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";

// Nobody needs a form before they ask for it. What waits for it is the form alone, not the page (`ssr: false`).
const InviteDialog = dynamic(() => import("./invite-dialog"), { ssr: false });

/** The button that invites somebody, and what follows. */
export function Invite({ workspace, name }: { workspace: string; name: string }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setAsking(true)}>
        <UserPlus aria-hidden="true" />
        Invite somebody
      </Button>
      {isAsking ? <InviteDialog workspace={workspace} name={name} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
