"use client";

import dynamic from "next/dynamic";
import { onDemand } from "@/components/connection/on-demand";
import { Disclosure } from "@/components/ui/disclosure";
import type { BreakdownRowsProps } from "./breakdown-rows";

/** Loaded when the rows are unfolded. */
const BreakdownRows = dynamic(
  onDemand(() => import("./breakdown-rows").then((module) => module.BreakdownRows)),
  { ssr: false },
);

/** The rows of a breakdown that are not shown at first, folded away. */
export function BreakdownRest(props: BreakdownRowsProps) {
  return (
    <Disclosure
      summary={`${props.rows.length} more`}
      className="border-t"
      summaryClassName="w-fit rounded-sm py-2 text-muted-foreground text-sm hover:text-foreground"
    >
      {() => <BreakdownRows {...props} />}
    </Disclosure>
  );
}
