"use client";

import { FileUp } from "lucide-react";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { formatNumber } from "@/components/figures/format-count";
import { Alert } from "@/components/ui/alert";
import { cn } from "@/components/ui/cn";
import { type ChosenFile, limits } from "./chosen-file";

/** Where the user drops or chooses a CSV file. The browser reads it; nothing is sent yet. */
export function ChooseFile({ onChosen }: { onChosen: (file: ChosenFile) => void }) {
  const [isReading, setReading] = useState(false);
  const [isDragging, setDragging] = useState(false);
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);

  const read = async (file: File | undefined) => {
    if (!file) return;
    setReading(true);
    setProblem(undefined);
    try {
      const { readBlob } = await import("@/lib/ledger/import/read-blob");
      const content = await readBlob(file, limits);
      if (content.rows.length === 0) throw new Error("The file has a header and no rows.");
      onChosen({ ...content, name: file.name });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "The file cannot be read.");
      setReading(false);
    }
  };
  /** Reads the file of the input, and empties it, so that a corrected file can be chosen again. */
  const readChosen = () => {
    if (!input.current) return;
    void read(input.current.files?.[0]);
    input.current.value = "";
  };
  // Handles a file that was chosen before React attached the handlers.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when React takes over
  useEffect(readChosen, []);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setDragging(false);
    void read(event.dataTransfer.files[0]);
  };
  return (
    <>
      {problem ? (
        <Alert variant="destructive">
          {problem} For larger files and for JSON lines, use{" "}
          <code className="font-mono">npm run import -- FILE</code>, which has no limit.
        </Alert>
      ) : null}
      <label
        onDragOver={(event) => {
          event.preventDefault();
          setDragging(true);
        }}
        onDragLeave={() => setDragging(false)}
        onDrop={onDrop}
        className={cn(
          "grid cursor-pointer justify-items-center gap-2 rounded-lg border border-dashed px-6 py-16 text-center hover:bg-muted has-focus-visible:outline-2 has-focus-visible:outline-ring has-focus-visible:outline-offset-2",
          isDragging && "border-primary bg-muted",
        )}
      >
        <FileUp aria-hidden="true" className="size-6 text-muted-foreground" />
        <span className="font-medium">
          {isReading ? "Reading the file" : "Choose a CSV file, or drop it here"}
        </span>
        <span className="max-w-[56ch] text-muted-foreground text-sm">
          Up to {formatNumber(limits.maxRows)} rows with a header line. You can check the rows before anything
          is recorded.
        </span>
        <input
          ref={input}
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          disabled={isReading}
          onChange={readChosen}
          className="sr-only"
        />
      </label>
      <p className="text-muted-foreground text-sm">
        Importing a file twice records each row once. If an import was stopped, start it again.
      </p>
    </>
  );
}
