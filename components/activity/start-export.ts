import { toastProblem } from "@/components/ui/toaster";

const problems: Record<number, string> = {
  401: "Your session is over. Sign in again to export.",
  404: "This workspace is gone, or you are no longer a member.",
  429: "One of your exports is still being sent. Start another when it is done.",
  503: "The service cannot read its database at the moment. Try again shortly.",
};

/** Has the browser save an export; where none can begin now, says why instead. */
export async function startExport(href: string): Promise<void> {
  // A refusal of the download itself would be a file that "could not be saved", without a reason.
  const answer = await fetch(href, { method: "HEAD" }).catch(() => undefined);
  if (!answer?.ok) {
    toastProblem(problems[answer?.status ?? 0] ?? "The export could not begin. Try again.");
    return;
  }
  const link = Object.assign(document.createElement("a"), { href, download: "" });
  link.click();
}
