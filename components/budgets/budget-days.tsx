"use client";

import type { z } from "zod";
import { readerZone } from "@/components/reader/by-reader";
import { TimeZoneField } from "@/components/schedule/time-zone-field";
import { WeekdayField } from "@/components/schedule/weekday-field";
import { TextField } from "@/components/ui/form-field";
import type { createBudgetRequest } from "@/lib/contract/spend/budgets";

type Request = z.input<typeof createBudgetRequest>;

/** The fields for the days that a new budget counts: its time zone, the first day of its weeks, its first and last day. */
export function BudgetDays({
  period,
  zone,
  onZone,
  fieldErrors,
}: {
  period: Request["period"];
  zone: string[];
  onZone: (zone: string[]) => void;
  /** Errors of fields, by the API's paths. */
  fieldErrors: Record<string, string>;
}) {
  const isOnce = period === "once";
  return (
    <details open={isOnce || undefined} className="group">
      <summary className="w-fit cursor-pointer rounded-sm text-sm underline-offset-4 hover:underline">
        Days and time zone
      </summary>
      <div className="mt-4 grid gap-5">
        {period === "week" ? (
          <WeekdayField
            label="First day of the week"
            name="week_starts_on"
            error={fieldErrors.week_starts_on}
          />
        ) : null}
        <div className="grid gap-5 sm:grid-cols-2">
          <TextField
            label="First day"
            optional={!isOnce}
            error={fieldErrors.starts_on}
            name="starts_on"
            type="date"
          />
          <TextField
            label="Last day"
            optional={!isOnce}
            error={fieldErrors.ends_on}
            name="ends_on"
            type="date"
          />
        </div>
        <TimeZoneField
          zone={zone}
          onZone={onZone}
          description={`Days start at midnight in this time zone. Left empty: in ${readerZone()}, as in the workspace.`}
          error={fieldErrors.time_zone}
        />
      </div>
    </details>
  );
}
