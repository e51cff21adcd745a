"use client";

import { Download } from "lucide-react";
import type { RefObject } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { Button } from "@/components/ui/button";
import { toastProblem } from "@/components/ui/toaster";
import type { PictureHeading } from "./picture-heading";

const loadSaving = onDemand(() => import("./save-picture"));

/** Buttons that save the data of a chart as CSV and its drawing as a picture. Their code is loaded when one is pressed. */
export function ChartDownloads({
  fileName,
  toCsv,
  frame,
  heading,
}: {
  /** The file name without its extension. */
  fileName: string;
  /** Undefined if the page has another button that saves the figures. */
  toCsv: (() => string | Promise<string>) | undefined;
  /** The element that contains the drawing; undefined if none is shown. */
  frame?: RefObject<HTMLElement | null> | undefined;
  /** The heading of the picture, above the drawing. */
  heading: () => PictureHeading;
}) {
  const report = (error: Error) => toastProblem(error.message);
  const saveCsv = async (write: () => string | Promise<string>) => {
    const { saveFile } = await loadSaving();
    saveFile(new Blob([await write()], { type: "text/csv;charset=utf-8" }), `${fileName}.csv`);
  };
  const savePng = async () => {
    const { savePicture } = await loadSaving();
    if (frame?.current) await savePicture(frame.current, `${fileName}.png`, heading());
  };
  return (
    <div className="flex gap-2">
      {toCsv ? (
        <Button variant="outline" size="sm" onClick={() => saveCsv(toCsv).catch(report)}>
          <Download aria-hidden="true" />
          CSV
        </Button>
      ) : null}
      {frame ? (
        <Button variant="outline" size="sm" onClick={() => savePng().catch(report)}>
          <Download aria-hidden="true" />
          PNG
        </Button>
      ) : null}
    </div>
  );
}
