"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatMonthAndYear } from "@/components/figures/format-date";
import { activityHref } from "@/components/filters/href";
import { Alert } from "@/components/ui/alert";
import { Button, buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { Progress as ProgressBar } from "@/components/ui/progress";
import type { Choices, ChosenFile } from "./chosen-file";
import { RefusedRows } from "./refused-rows";
import type { Outcome, Progress } from "./run-import";

/** A dry run or an import: its progress, and then its outcome or the problem that ended it. */
type Run = { dryRun: boolean; progress: Progress; outcome?: Outcome; problem?: string; stopped?: boolean };

/** Runs a dry run of the import, shows which rows would be refused and why, and then records the others. */
export function Check({
  workspace,
  file,
  choices,
  onBack,
  onOver,
}: {
  workspace: string;
  file: ChosenFile;
  choices: Choices;
  onBack: () => void;
  onOver: () => void;
}) {
  const { run, start, stop } = useRun(workspace, file, choices);
  useEffect(() => {
    void start(true);
    return stop;
  }, [start, stop]);
  const { outcome, problem } = run;
  const isRunning = !outcome && !problem;
  useLeaveWarning(isRunning && !run.dryRun);
  return (
    <>
      <h2 className="font-medium">{formatHeading(run)}</h2>
      {isRunning ? (
        <Running run={run} total={file.rows.length} onStop={stop} />
      ) : (
        <p aria-live="polite">{formatSummary(run, file.rows.length)}</p>
      )}
      {problem ? (
        <Alert variant="destructive">
          {problem} Recorded rows stay. If you start the import again, it continues where it stopped.
        </Alert>
      ) : null}
      {outcome && outcome.refusals.length > 0 ? (
        <RefusedRows file={file} refusals={outcome.refusals} isDryRun={run.dryRun} />
      ) : null}
      {isRunning ? null : (
        <div className="flex flex-wrap gap-2">
          <NextStep run={run} workspace={workspace} start={start} />
          <Button variant="outline" onClick={run.dryRun ? onBack : onOver}>
            {run.dryRun ? "Back to the columns" : "Import another file"}
          </Button>
        </div>
      )}
    </>
  );
}

/** The main button after a run: record the rows, run again, or show the imported rows. */
function NextStep({
  run,
  workspace,
  start,
}: {
  run: Run;
  workspace: string;
  start: (dryRun: boolean) => Promise<void>;
}) {
  const { outcome, dryRun, problem, stopped } = run;
  if (problem || stopped) {
    return <Button onClick={() => start(dryRun)}>{dryRun ? "Check again" : "Continue"}</Button>;
  }
  const recorded = outcome?.summary.recorded ?? 0;
  if (!dryRun) {
    return (
      <Link href={activityHref(workspace, { period: "all", source: "import" })} className={buttonVariants()}>
        Show imported rows
      </Link>
    );
  }
  if (recorded === 0) return null;
  return <Button onClick={() => start(false)}>Record {formatCount(recorded, "row")}</Button>;
}

function Running({ run, total, onStop }: { run: Run; total: number; onStop: () => void }) {
  const { rows, waiting } = run.progress;
  return (
    <div className="grid max-w-xl gap-2">
      <ProgressBar fraction={rows / total} label={formatHeading(run)} />
      <div className="flex min-h-8 items-center justify-between gap-4 text-muted-foreground text-sm">
        <span>{waiting ?? `${formatNumber(rows)} of ${formatCount(total, "row")}`}</span>
        <Button variant="ghost" size="sm" onClick={onStop}>
          Stop
        </Button>
      </div>
    </div>
  );
}

function formatHeading({ dryRun, outcome, problem, stopped }: Run): string {
  if (problem || stopped) return dryRun ? "The check did not finish" : "The import did not finish";
  if (!outcome) return dryRun ? "Checking the rows" : "Recording the rows";
  if (!dryRun) return "Imported";
  return outcome.summary.recorded > 0 ? "Checked. Nothing is recorded yet" : "There is nothing to record";
}

function formatSummary({ dryRun, outcome, stopped }: Run, total: number): string {
  if (!outcome) return "";
  const { rows, recorded, replayed, refused, adjusting } = outcome.summary;
  const parts = [
    dryRun ? `${formatCount(recorded, "row")} would be recorded` : `${formatCount(recorded, "row")} recorded`,
    ...(replayed > 0 ? [`${formatCount(replayed, "row")} had been recorded before`] : []),
    ...(refused > 0
      ? [
          dryRun
            ? `${formatCount(refused, "row")} would be refused`
            : `${formatCount(refused, "row")} refused`,
        ]
      : []),
    ...(stopped ? [`${formatCount(total - rows, "row")} left`] : []),
  ];
  const summary = `${parts.join(", ")}.`;
  if (adjusting === 0) return summary;
  const isOne = adjusting === 1;
  const booked = `${dryRun ? (isOne ? "is" : "are") : isOne ? "was" : "were"} booked in ${formatMonthAndYear(Date.now())} as ${isOne ? "an adjustment" : "adjustments"}`;
  return `${summary} ${formatCount(adjusting, "row")} of closed months ${booked}.`;
}

/** Starts and stops runs over the same file, one at a time. */
function useRun(workspace: string, file: ChosenFile, choices: Choices) {
  const [run, setRun] = useState<Run>({ dryRun: true, progress: { rows: 0 } });
  const controller = useRef<AbortController>(undefined);
  const start = useCallback(
    async (dryRun: boolean) => {
      controller.current?.abort();
      const abort = new AbortController();
      controller.current = abort;
      const isCurrent = () => controller.current === abort;
      setRun({ dryRun, progress: { rows: 0 } });
      try {
        const { runImport } = await import("./run-import");
        const outcome = await runImport(workspace, file, choices, {
          dryRun,
          stop: abort.signal,
          onProgress: (progress) => isCurrent() && setRun((before) => ({ ...before, progress })),
        });
        if (isCurrent()) {
          const stopped = outcome.summary.rows < file.rows.length;
          setRun((before) => ({ ...before, outcome, stopped }));
        }
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        if (isCurrent()) setRun((before) => ({ ...before, problem }));
      }
    },
    [workspace, file, choices],
  );
  const stop = useCallback(() => controller.current?.abort(), []);
  return { run, start, stop };
}

/** Makes the browser ask before the page is left during an import. */
function useLeaveWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
