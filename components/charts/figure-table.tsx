import dynamic from "next/dynamic";
import { onDemand } from "@/components/connection/on-demand";
import { Disclosure } from "@/components/ui/disclosure";
import type { FiguresProps } from "./figures";

/** Loaded when the table is unfolded. */
const Figures = dynamic(
  onDemand(() => import("./figures").then((module) => module.Figures)),
  { ssr: false },
);

/** The figures of a chart as a table, folded away. */
export function FigureTable(props: FiguresProps) {
  return (
    <Disclosure
      summary="Show the figures"
      className="text-sm"
      summaryClassName="w-fit rounded-sm text-muted-foreground text-xs hover:text-foreground"
    >
      {() => <Figures {...props} />}
    </Disclosure>
  );
}
