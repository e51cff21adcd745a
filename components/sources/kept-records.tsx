import { formatCount } from "@/components/figures/format-count";
import { SendAgain } from "./send-again";
import type { SourceView } from "./source-view";

/** The refused records that can be sent again, with the button for those who may. @param props.path of the source in the API */
export function KeptRecords({
  kept,
  canSend,
  path,
}: {
  kept: SourceView["kept"];
  canSend: boolean;
  path: string;
}) {
  if (kept.records === 0) return null;
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 rounded-lg border bg-muted/50 px-4 py-3">
      <p className="min-w-0 flex-1 basis-64 text-sm">
        {formatCount(kept.records, "refused record")} of {formatCount(kept.exports, "request")}{" "}
        {kept.records === 1 ? "is" : "are"} kept for 7 days, without prompts and answers. Widen the key or
        change the settings, then send {kept.records === 1 ? "it" : "them"} again. What was recorded meanwhile
        counts once.
      </p>
      {canSend ? <SendAgain path={path} records={kept.records} /> : null}
    </div>
  );
}
