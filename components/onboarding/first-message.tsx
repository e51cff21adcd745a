"use client";

import { CircleCheck } from "lucide-react";
import { useEffect, useRef } from "react";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Button } from "@/components/ui/button";
import type { ActivityRow } from "@/lib/contract/spend/activity";

/** The first message of a workspace, with a button to the overview. */
export function FirstMessage({ message, onContinue }: { message: ActivityRow; onContinue: () => void }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In braces, because newer browsers return a promise, which React would take for a cleanup function.
    element.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div
      ref={element}
      className="grid justify-items-start gap-3 transition-opacity duration-120 starting:opacity-0"
    >
      <p className="flex items-center gap-2 text-sm">
        <CircleCheck aria-hidden="true" className="size-4 text-success" />
        The first message is here.
      </p>
      <div className="grid w-full grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 rounded-lg border px-4 py-3">
        <span className="truncate font-medium">{message.label}</span>
        <Money usd={message.amount_usd} figure="amount_usd" />
        <span className="truncate text-muted-foreground text-sm">
          {message.project_name}
          {message.environment === "test" ? ", test data" : null}
          {message.cost_status === "unpriced" ? ", no price known yet" : null}
        </span>
        <Time at={message.created_at} className="text-muted-foreground text-sm" />
      </div>
      <Button onClick={onContinue}>Go to the overview</Button>
    </div>
  );
}
