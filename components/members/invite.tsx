"use client";

import { UserPlus } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";

// With `ssr: false`, loading the dialog does not suspend the page.
const InviteDialog = dynamic(
  onDemand(() => import("./invite-dialog")),
  { ssr: false },
);

/** The button that opens the dialog for an invitation. */
export function Invite({ workspace, name }: { workspace: string; name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <UserPlus aria-hidden="true" />
        Invite someone
      </Button>
      {isOpen ? <InviteDialog workspace={workspace} name={name} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
