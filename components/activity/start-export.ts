import { toastProblem } from "@/components/ui/toaster";

const problems: Record<number, string> = {
  401: "Your session is over. Sign in again to export.",
  404: "This workspace is gone, or you are no longer a member.",
  429: "One of your exports is still being sent. Start another when it is done.",
  503: "The service cannot read its database at the moment. Try again shortly.",
};

/** Starts the download of an export. When the service refuses it, a notice says why. @param href the export's address */
export async function startExport(href: string): Promise<void> {
  // Asks first, because a browser does not show the reason when a download is refused.
  const answer = await fetch(href, { method: "HEAD" }).catch(() => undefined);
  if (!answer?.ok) {
    toastProblem(problems[answer?.status ?? 0] ?? "The export could not be started. Try again.");
    return;
  }
  const link = Object.assign(document.createElement("a"), { href, download: "" });
  link.click();
}
