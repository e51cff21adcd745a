"use client";

import { SlidersHorizontal } from "lucide-react";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { useLoaded } from "@/components/ui/use-loaded";
import { useOpened } from "@/components/ui/use-opened";
import type { ColumnName } from "./columns";

const loadFields = () => import("./view-fields");

/**
 * The menu of the order of the rows and of the columns that are shown. Its fields are loaded when it is first opened; when that fails,
 * the menu says so.
 */
export function ViewMenu(props: { shown: readonly ColumnName[]; onChange: (shown: ColumnName[]) => void }) {
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
  const { module, hasFailed } = useLoaded(loadFields, wasOpened);
  return (
    <Popover>
      <PopoverTrigger variant="outline" size="sm">
        <SlidersHorizontal aria-hidden="true" />
        View
      </PopoverTrigger>
      <PopoverContent
        ref={element}
        onBeforeToggle={open}
        role="dialog"
        aria-label="View"
        place="bottom-end"
        className="max-h-[85dvh] gap-3 open:grid"
      >
        {module ? <module.ViewFields {...props} /> : null}
        {hasFailed ? <p className="text-warning text-xs">The choices could not be loaded.</p> : null}
      </PopoverContent>
    </Popover>
  );
}
