"use client";

import { ListFilter } from "lucide-react";
import { useRouter } from "next/navigation";
import { useTransition } from "react";
import type { SearchParams } from "@/components/filters/href";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { useLoaded } from "@/components/ui/use-loaded";
import { useOpened } from "@/components/ui/use-opened";
import type { ActiveFilter } from "./filters";

type Props = {
  workspace: string;
  path: string;
  params: SearchParams;
  /** The filters in effect. */
  filters: ActiveFilter[];
  /** Path of the metrics of the shown days; their slices are the values to choose from. */
  metricsPath: string;
};

const loadFields = () => import("./filter-fields");

/**
 * The menu of all filters. A choice takes effect at once, and the menu stays open. The fields and their values are loaded when
 * it is first opened; when that fails, the menu says why.
 */
export function FilterMenu(props: Props) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
  const { module, hasFailed } = useLoaded(loadFields, wasOpened);
  const go = (href: string) => startTransition(() => router.push(href, { scroll: false }));
  return (
    <Popover>
      <PopoverTrigger variant="outline" size="sm">
        <ListFilter aria-hidden="true" />
        Filter
      </PopoverTrigger>
      <PopoverContent
        ref={element}
        onBeforeToggle={open}
        role="dialog"
        aria-label="Filters"
        aria-busy={isPending}
        className="max-h-[85dvh] w-80 gap-3 open:grid"
      >
        {module ? <module.FilterFields {...props} go={go} /> : null}
        {hasFailed ? <p className="text-warning text-xs">The filters could not be loaded.</p> : null}
      </PopoverContent>
    </Popover>
  );
}
