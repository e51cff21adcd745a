import type { ReactNode } from "react";
import { Anchored } from "./anchored";

/** A section of the page's prose, to be linked to. */
export function Topic({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section id={id} className="scroll-mt-11 pb-10 lg:scroll-mt-0">
      <Anchored id={id} level={2} className="font-semibold text-xl tracking-tight">
        {title}
      </Anchored>
      <div className="mt-3 space-y-4">{children}</div>
    </section>
  );
}
