"use client";

import { useEffect, useRef, useState } from "react";
import { useProjectList } from "@/components/shell/use-project-list";
import { Check } from "./check";
import { ChooseFile } from "./choose-file";
import { type Choices, type ChosenFile, firstChoices } from "./chosen-file";
import { MapColumns } from "./map-columns";
import { settleChoices } from "./settle-choices";

/** The steps of an import: choose a file, map its columns, check its rows, and record them. */
export function ImportFile({ workspace }: { workspace: string }) {
  const [file, setFile] = useState<ChosenFile>();
  const [choices, setChoices] = useState<Choices>();
  // A copy of the choices, so that the check and the recording use the same ones even if projects are read again meanwhile.
  const [checked, setChecked] = useState<Choices>();
  const projects = useProjectList(workspace);
  const settled = file && choices ? settleChoices(file, choices, projects) : undefined;
  const top = useRef<HTMLDivElement>(null);
  const step = file === undefined ? "choose" : checked ? "check" : "map";

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
    setChecked(undefined);
  };
  return (
    <div ref={top} tabIndex={-1} className="grid max-w-4xl gap-6 outline-none">
      {file === undefined || choices === undefined || !settled ? (
        <ChooseFile
          onChosen={(chosen) => {
            setFile(chosen);
            setChoices(firstChoices(chosen, projects));
          }}
        />
      ) : checked ? (
        <Check
          workspace={workspace}
          file={file}
          choices={checked}
          onBack={() => setChecked(undefined)}
          onOver={startOver}
        />
      ) : (
        <MapColumns
          file={file}
          choices={choices}
          settled={settled}
          onChange={setChoices}
          onBack={startOver}
          onDone={() => setChecked({ ...choices, mapping: settled.mapping })}
        />
      )}
    </div>
  );
}
