"use client";

import { useState } from "react";
import { type ClassNames, type DateRange, DayPicker } from "react-day-picker";
import { formatDate, formatDays } from "@/components/figures/format-date";
import { utcDay } from "@/components/figures/utc-day";
import { Button } from "@/components/ui/button";

type Days = { from: string; to: string };

const toDate = (day: string) => new Date(`${day}T00:00:00Z`);

const step =
  "inline-flex size-8 items-center justify-center rounded-md hover:bg-accent disabled:opacity-40 [&_svg]:size-4 [&_svg]:fill-current";

const classNames: Partial<ClassNames> = {
  months: "relative",
  nav: "absolute inset-x-0 top-0 flex justify-between",
  button_previous: step,
  button_next: step,
  month_caption: "flex h-8 items-center justify-center gap-2 font-medium text-sm",
  dropdowns: "flex items-center gap-1.5",
  dropdown_root: "relative inline-flex items-center rounded-md px-1 hover:bg-accent",
  dropdown: "absolute inset-0 w-full cursor-pointer opacity-0",
  caption_label: "inline-flex items-center gap-1 [&_svg]:size-3 [&_svg]:fill-current",
  month_grid: "mt-2 border-collapse",
  weekday: "size-9 text-center font-normal text-muted-foreground text-xs",
  day: "p-0 text-center text-sm",
  day_button:
    "size-9 cursor-pointer rounded-md tabular-nums hover:bg-accent disabled:cursor-default disabled:opacity-40",
  today: "font-semibold underline underline-offset-4",
  outside: "text-muted-foreground",
  range_start: "rounded-l-md bg-accent [&>button]:bg-primary [&>button]:text-primary-foreground",
  range_end: "rounded-r-md bg-accent [&>button]:bg-primary [&>button]:text-primary-foreground",
  range_middle: "bg-accent",
};

/**
 * A calendar in which a range is chosen: its first and its last day, then the button.
 * @param props.days the initial range; undefined for none
 * @param props.today the workspace's current day, after which none can be chosen
 */
export default function DayCalendar({
  days,
  today,
  onChoose,
}: {
  days: Days | undefined;
  today: string;
  onChoose: (days: Days) => void;
}) {
  const last = toDate(today);
  const [chosen, setChosen] = useState<DateRange | undefined>(
    days && { from: toDate(days.from), to: toDate(days.to < today ? days.to : today) },
  );
  const from = chosen?.from && utcDay(chosen.from.getTime());
  const to = chosen?.to && utcDay(chosen.to.getTime());
  return (
    <div className="grid gap-3 p-3">
      <DayPicker
        mode="range"
        timeZone="UTC"
        weekStartsOn={1}
        captionLayout="dropdown"
        startMonth={toDate("2015-01-01")}
        endMonth={last}
        today={last}
        disabled={{ after: last }}
        defaultMonth={chosen?.to ?? last}
        selected={chosen}
        resetOnSelect
        onSelect={setChosen}
        classNames={classNames}
      />
      <div className="flex items-center justify-between gap-3">
        <p aria-live="polite" className="text-muted-foreground text-xs">
          {from === undefined
            ? "Choose the first day"
            : to === undefined
              ? "Choose the last day"
              : from === to
                ? formatDate(from)
                : formatDays(from, to)}
        </p>
        <Button
          size="sm"
          disabled={from === undefined || to === undefined}
          onClick={() => from !== undefined && to !== undefined && onChoose({ from, to })}
        >
          Show
        </Button>
      </div>
    </div>
  );
}
