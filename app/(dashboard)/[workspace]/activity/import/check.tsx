"use client";

import Link from "next/link";
import { useCallback, useEffect, useRef, useState } from "react";
import { activityHref } from "@/components/filters/href";
import { Alert } from "@/components/ui/alert";
import { Button, buttonVariants } from "@/components/ui/button";
import { Progress as ProgressBar } from "@/components/ui/progress";
import type { Choices, ChosenFile } from "./chosen-file";
import { RefusedRows } from "./refused-rows";
import type { Outcome, Progress } from "./run-import";

type Run = { dryRun: boolean; progress: Progress; outcome?: Outcome; problem?: string; stopped?: boolean };

const count = (rows: number) => `${rows.toLocaleString("en-US")} ${rows === 1 ? "row" : "rows"}`;

/** Tries the rows, says what would be refused and why, and then records them. */
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
      <h2 className="font-medium">{headingOf(run)}</h2>
      {isRunning ? (
        <Running run={run} total={file.rows.length} onStop={stop} />
      ) : (
        <p aria-live="polite">{summarize(run, file.rows.length)}</p>
      )}
      {problem ? (
        <Alert variant="destructive">
          {problem} What was recorded stays; started again, the import goes on where it was.
        </Alert>
      ) : null}
      {outcome && outcome.refusals.length > 0 ? (
        <RefusedRows file={file} refusals={outcome.refusals} isTrial={run.dryRun} />
      ) : null}
      {isRunning ? null : (
        <div className="flex flex-wrap gap-2">
          <Next run={run} workspace={workspace} start={start} />
          <Button variant="outline" onClick={run.dryRun ? onBack : onOver}>
            {run.dryRun ? "Back to the columns" : "Import another file"}
          </Button>
        </div>
      )}
    </>
  );
}

/** What to do with what came out: record, go on, or look at it. */
function Next({
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
    return <Button onClick={() => start(dryRun)}>{dryRun ? "Check again" : "Go on"}</Button>;
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
  return <Button onClick={() => start(false)}>Record {count(recorded)}</Button>;
}

function Running({ run, total, onStop }: { run: Run; total: number; onStop: () => void }) {
  const { rows, waiting } = run.progress;
  return (
    <div className="grid max-w-xl gap-2">
      <ProgressBar fraction={rows / total} label={headingOf(run)} />
      <div className="flex min-h-8 items-center justify-between gap-4 text-muted-foreground text-sm">
        <span>{waiting ?? `${rows.toLocaleString("en-US")} of ${count(total)}`}</span>
        <Button variant="ghost" size="sm" onClick={onStop}>
          Stop
        </Button>
      </div>
    </div>
  );
}

function headingOf({ dryRun, outcome, problem, stopped }: Run): string {
  if (problem || stopped) return dryRun ? "The check did not finish" : "The import did not finish";
  if (!outcome) return dryRun ? "Checking the rows" : "Recording the rows";
  if (!dryRun) return "Imported";
  return outcome.summary.recorded > 0 ? "Checked. Nothing is recorded yet" : "There is nothing to record";
}

function summarize({ dryRun, outcome, stopped }: Run, total: number): string {
  if (!outcome) return "";
  const { rows, recorded, replayed, refused } = outcome.summary;
  const parts = [
    dryRun ? `${count(recorded)} would be recorded` : `${count(recorded)} recorded`,
    ...(replayed > 0 ? [`${count(replayed)} had been recorded before`] : []),
    ...(refused > 0 ? [dryRun ? `${count(refused)} would be refused` : `${count(refused)} refused`] : []),
    ...(stopped ? [`${count(total - rows)} left`] : []),
  ];
  return `${parts.join(", ")}.`;
}

/** One run after another over the same file. */
function useRun(workspace: string, file: ChosenFile, choices: Choices) {
  const [run, setRun] = useState<Run>({ dryRun: true, progress: { rows: 0 } });
  const stopper = useRef<AbortController>(undefined);
  const start = useCallback(
    async (dryRun: boolean) => {
      stopper.current?.abort();
      const own = new AbortController();
      stopper.current = own;
      const isCurrent = () => stopper.current === own;
      setRun({ dryRun, progress: { rows: 0 } });
      try {
        const { runImport } = await import("./run-import");
        const outcome = await runImport(workspace, file, choices, {
          dryRun,
          stop: own.signal,
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
  const stop = useCallback(() => stopper.current?.abort(), []);
  return { run, start, stop };
}

/** Asks before the page is left in the middle. */
function useLeaveWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
}
