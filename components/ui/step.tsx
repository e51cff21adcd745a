import { Check } from "lucide-react";
import type { ReactNode } from "react";

/** A step of an ordered list, with its number, or with a check mark once it is done. */
export function Step({
  number,
  title,
  isDone,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  children: ReactNode;
}) {
  return (
    <li className="grid grid-cols-[1.75rem_minmax(0,1fr)] gap-x-3">
      <span
        aria-hidden="true"
        className={
          isDone
            ? "flex size-7 items-center justify-center rounded-full bg-success/15 text-success"
            : "flex size-7 items-center justify-center rounded-full border text-muted-foreground text-sm"
        }
      >
        {isDone ? <Check className="size-4" /> : number}
      </span>
      <div className="min-w-0">
        <h2 className="pt-0.5 pb-2 font-medium">
          {title}
          {isDone ? <span className="sr-only"> (done)</span> : null}
        </h2>
        {children}
      </div>
    </li>
  );
}

/** What a step waits for, with a light that pulses. */
export function Waiting({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-center gap-2.5 text-muted-foreground text-sm">
      <span
        aria-hidden="true"
        className="size-2 shrink-0 rounded-full bg-primary motion-safe:animate-pulse"
      />
      {children}
    </p>
  );
}
