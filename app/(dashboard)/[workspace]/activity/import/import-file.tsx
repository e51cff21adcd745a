"use client";

import { useEffect, useRef, useState } from "react";
import { guessMapping } from "@/lib/ledger/import/fields";
import { Check } from "./check";
import { ChooseFile } from "./choose-file";
import type { Choices, ChosenFile } from "./chosen-file";
import { MapColumns } from "./map-columns";

/** The steps of an import: choose a file, map its columns, check its rows, and record them. */
export function ImportFile({ workspace }: { workspace: string }) {
  const [file, setFile] = useState<ChosenFile>();
  const [choices, setChoices] = useState<Choices>();
  const [isMapped, setMapped] = useState(false);
  const top = useRef<HTMLDivElement>(null);
  const step = file === undefined ? "choose" : isMapped ? "check" : "map";

  // Each later step starts at its top, with the focus there. The first step is part of the page.
  const lastStep = useRef(step);
  useEffect(() => {
    if (lastStep.current === step) return;
    lastStep.current = step;
    top.current?.focus();
    top.current?.scrollIntoView({ block: "nearest" });
  }, [step]);

  const startOver = () => {
    setFile(undefined);
    setChoices(undefined);
    setMapped(false);
  };
  return (
    <div ref={top} tabIndex={-1} className="grid max-w-4xl gap-6 outline-none">
      {file === undefined || choices === undefined ? (
        <ChooseFile
          onChosen={(chosen) => {
            setFile(chosen);
            setChoices({ mapping: guessMapping(chosen.columns, { map: {}, set: {} }), idColumn: "" });
          }}
        />
      ) : isMapped ? (
        <Check
          workspace={workspace}
          file={file}
          choices={choices}
          onBack={() => setMapped(false)}
          onOver={startOver}
        />
      ) : (
        <MapColumns
          file={file}
          choices={choices}
          onChange={setChoices}
          onBack={startOver}
          onDone={() => setMapped(true)}
        />
      )}
    </div>
  );
}
