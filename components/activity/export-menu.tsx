"use client";

import { Download } from "lucide-react";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuDownload,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { startExport } from "./start-export";

/** The menu that exports all pages of the shown activity as a file. @param filters the query string of the shown activity */
export function ExportMenu({ workspace, filters }: { workspace: string; filters: string }) {
  const href = (format: string) => `/api/v1/workspaces/${workspace}/export?${filters}&format=${format}`;
  return (
    <DropdownMenu>
      <DropdownMenuTrigger variant="outline">
        <Download aria-hidden="true" />
        Export
      </DropdownMenuTrigger>
      <DropdownMenuContent place="bottom-end" aria-label="Export what is shown" className="w-64">
        <DropdownMenuDownload href={href("csv")} onSelect={startExport}>
          <Format name="CSV" hint="A row for each entry, in our columns" />
        </DropdownMenuDownload>
        <DropdownMenuDownload href={href("focus")} onSelect={startExport}>
          <Format name="FOCUS" hint="The FinOps columns, for cost tools" />
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
