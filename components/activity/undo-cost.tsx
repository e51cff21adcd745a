"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Time } from "@/components/figures/time";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { kindOf } from "./corrected-message";
import { MessageLink } from "./message-link";

// With `ssr: false`, loading a dialog does not suspend the page, which would lose the focus.
const VoidDialog = dynamic(
  onDemand(() => import("./void-dialog")),
  { ssr: false },
);
const CorrectDialog = dynamic(
  onDemand(() => import("./correct-dialog")),
  { ssr: false },
);

/** Says whether a message is voided, a void or a correction, with links to the other messages. */
export function UndoneNote({ message }: { message: MessageDetail }) {
  const { voids, voided_by: by, voided_at: at, void_reason: reason, corrects, corrected_by: anew } = message;
  const { correction_reason: correctionReason } = message;
  if (voids !== null) {
    return (
      <Alert>
        This voids <MessageLink id={voids}>another cost</MessageLink>: it takes away what that added.
      </Alert>
    );
  }
  if (by !== null) {
    return (
      <Alert className="grid gap-1">
        <p>
          Voided {at === null ? null : <Time at={at} />}: {reason}
        </p>
        <p>
          It no longer counts. <MessageLink id={by}>Show the void</MessageLink>
          {anew === null ? null : (
            <>
              {" or "}
              <MessageLink id={anew}>the corrected cost</MessageLink>
            </>
          )}
        </p>
      </Alert>
    );
  }
  if (corrects === null) return null;
  return (
    <Alert>
      This corrects <MessageLink id={corrects}>another cost</MessageLink>
      {correctionReason === null ? "." : `: ${correctionReason}`}
    </Alert>
  );
}

/** The buttons that void a message and correct it, each with its dialog. */
export function UndoActions({ workspace, message }: { workspace: string; message: MessageDetail }) {
  const [open, setOpen] = useState<"void" | "correct">();
  const close = () => setOpen(undefined);
  const kind = kindOf(message);
  return (
    <p className="flex flex-wrap gap-2">
      {kind === undefined ? null : (
        <Button size="sm" variant="outline" aria-haspopup="dialog" onClick={() => setOpen("correct")}>
          Correct…
        </Button>
      )}
      <Button size="sm" variant="outline" aria-haspopup="dialog" onClick={() => setOpen("void")}>
        Void…
      </Button>
      {open === "void" ? <VoidDialog workspace={workspace} message={message} onClose={close} /> : null}
      {open === "correct" && kind !== undefined ? (
        <CorrectDialog workspace={workspace} kind={kind} message={message} onClose={close} />
      ) : null}
    </p>
  );
}
