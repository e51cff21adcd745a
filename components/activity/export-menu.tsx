"use client";

import { Download } from "lucide-react";
import { useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { formatSize } from "@/components/figures/format-count";
import { Problem } from "@/components/requests/api";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuDownload,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { toast, toastProblem } from "@/components/ui/toaster";

const loadExport = onDemand(async () => {
  const [{ exportFile }, { saveFile }] = await Promise.all([
    import("./export-file"),
    import("@/components/charts/save-picture"),
  ]);
  return { exportFile, saveFile };
});

/**
 * The menu that exports all pages of the shown activity as a file. States: ready, and exporting with what has arrived.
 * @param filters the query string of the shown activity
 */
export function ExportMenu({ workspace, filters }: { workspace: string; filters: string }) {
  const href = (format: string) => `/api/v1/workspaces/${workspace}/export?${filters}&format=${format}`;
  const [arrived, setArrived] = useState<number>();
  const run = async (address: string) => {
    setArrived(0);
    try {
      const { exportFile, saveFile } = await loadExport();
      const { file, name } = await exportFile(address, setArrived);
      saveFile(file, name);
      toast(`Exported ${name}, ${formatSize(file.size)}`);
    } catch (error) {
      toastProblem(error instanceof Problem ? error.message : "The export failed. Try again in a moment.");
    } finally {
      setArrived(undefined);
    }
  };
  return (
    <DropdownMenu>
      <DropdownMenuTrigger variant="outline" disabled={arrived !== undefined}>
        <Download aria-hidden="true" />
        {arrived === undefined ? "Export" : `Exporting, ${formatSize(arrived)}`}
      </DropdownMenuTrigger>
      <DropdownMenuContent place="bottom-end" aria-label="Export what is shown" className="w-64">
        <DropdownMenuDownload href={href("csv")} onSelect={run}>
          <Format name="CSV" hint="One row per entry, with all of its fields" />
        </DropdownMenuDownload>
        <DropdownMenuDownload href={href("focus")} onSelect={run}>
          <Format name="FOCUS" hint="The FinOps standard, for cost tools" />
        </DropdownMenuDownload>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

function Format({ name, hint }: { name: string; hint: string }) {
  return (
    <span>
      {name}
      <span className="block text-muted-foreground text-xs">{hint}</span>
    </span>
  );
}
