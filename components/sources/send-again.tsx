"use client";

import { RotateCw } from "lucide-react";
import { formatCount } from "@/components/figures/format-count";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { ReplayResult, replayResult } from "@/lib/contract/sources/sources";

/** A button that records the stored refused records of a source again. @param props.path the source's path in the API */
export function SendAgain({ path, records }: { path: string; records: number }) {
  const { run, isPending } = useMutation(() => callApi<typeof replayResult>("POST", `${path}/replay`), {
    done: describeReplay,
  });
  return (
    <Button variant="outline" disabled={isPending} onClick={() => run()}>
      <RotateCw aria-hidden="true" />
      Send {formatCount(records, "record")} again
    </Button>
  );
}

/** Describes the outcomes of the records that were sent again. */
export function describeReplay({ recorded, repeated, refused, skipped, reasons }: ReplayResult): string {
  const parts = [
    recorded > 0 && `${formatCount(recorded, "record")} recorded`,
    repeated + skipped > 0 && `${formatCount(repeated + skipped, "record")} counted before`,
    refused > 0 && `${formatCount(refused, "record")} refused again`,
  ].filter((part) => part !== false);
  const [reason] = reasons;
  const said = parts.length === 0 ? "Nothing to send again." : `${parts.join(", ")}.`;
  return reason ? `${said} ${reason.description}` : said;
}
