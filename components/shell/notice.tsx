import type { ReactNode } from "react";
import { Mark } from "./mark";

/** A full page with one message and what to do next. */
export function Notice({
  title,
  children,
  actions,
}: {
  title: string;
  children: ReactNode;
  actions: ReactNode;
}) {
  return (
    <main className="mx-auto flex max-w-md flex-col gap-4 px-6 pt-[max(4rem,14dvh)] pb-16">
      <Mark className="size-7" />
      <h1 className="font-semibold text-xl tracking-tight">{title}</h1>
      <div className="text-muted-foreground">{children}</div>
      <div className="flex flex-wrap gap-2 pt-1">{actions}</div>
    </main>
  );
}
