import type { ReactNode } from "react";
import { LinkedHeading } from "./linked-heading";

/** A section of text with a heading that can be linked to. */
export function Topic({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section id={id} className="scroll-mt-11 pb-10 lg:scroll-mt-0">
      <LinkedHeading id={id} level={2} className="font-semibold text-xl tracking-tight">
        {title}
      </LinkedHeading>
      <div className="mt-3 space-y-4">{children}</div>
    </section>
  );
}
