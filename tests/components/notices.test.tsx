import { screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import { Dialog, DialogContent, DialogTitle } from "@/components/ui/dialog";
import { Toaster, toast } from "@/components/ui/toaster";
import { show } from "./render";

// This document has no popovers.
HTMLElement.prototype.showPopover ??= () => {};

function Page() {
  const [isOpen, setOpen] = useState(true);
  return (
    <>
      <Toaster />
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent>
          <DialogTitle>A sheet</DialogTitle>
        </DialogContent>
      </Dialog>
    </>
  );
}

test("Shows a notice within the dialog on top, where it can be used, and keeps it when the dialog is closed", async () => {
  const user = show(<Page />);
  const undo = vi.fn();
  // Not "Undo": other files of a worker may have left such notices.
  toast("Voided.", { label: "Take it back", run: undo });
  const button = await screen.findByRole("button", { name: "Take it back" });
  expect(button.closest("dialog")).toBe(screen.getByRole("dialog"));
  const [close] = screen.getAllByRole("button", { name: "Close" });
  if (close) await user.click(close);
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(document.body.contains(button)).toBe(true);
  await user.click(button);
  expect(undo).toHaveBeenCalledOnce();
});
