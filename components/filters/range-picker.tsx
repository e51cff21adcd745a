"use client";

import { CalendarDays, ChevronLeft, ChevronRight } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { buttonVariants } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { useOpened } from "@/components/ui/use-opened";
import type { SearchParams } from "./href";
import {
  type CompareChoice,
  compareOptions,
  hrefOfComparison,
  hrefOfPeriod,
  nameDays,
  nameRange,
  type PageRange,
  type PeriodChoice,
  presets,
} from "./range";
import { writeRangeCookie } from "./range-memory";

const DayCalendar = dynamic(
  onDemand(() => import("./day-calendar")),
  {
    ssr: false,
    loading: () => <div className="h-78 w-70" aria-busy="true" />,
  },
);

type Props = {
  path: string;
  params: SearchParams;
  range: PageRange;
  /** Whether the page begins with the range that was chosen last. Default: true. */
  isRemembered?: boolean;
};

/**
 * The controls of a page's range: the previous and the next range, presets, a calendar for any days, and the comparison. All of it is
 * kept in the address. A choice without fixed days is also remembered in this browser.
 * @param props.hasComparison false for a page that compares nothing
 */
export function RangePicker({ hasComparison = true, ...props }: Props & { hasComparison?: boolean }) {
  useShownAddress(props);
  return (
    <div className={cn("flex max-w-full flex-wrap items-center gap-2", hasComparison && "max-sm:contents")}>
      <div className={cn("flex items-center", hasComparison && "max-sm:order-2")}>
        <Step {...props} to={props.range.earlier} label="Earlier">
          <ChevronLeft aria-hidden="true" />
        </Step>
        <PeriodMenu {...props} />
        <Step {...props} to={props.range.later} label="Later">
          <ChevronRight aria-hidden="true" />
        </Step>
      </div>
      {hasComparison && props.range.period !== "all" ? <CompareMenu {...props} /> : null}
      {/* On a phone, it stands beside the control before, because the comparison takes the rest of this line; last where there is none. */}
      <span
        className={cn(
          "text-muted-foreground text-xs",
          hasComparison && "max-sm:order-1 max-sm:[:first-child>&]:order-3",
        )}
      >
        Days of {props.range.timeZone}
      </span>
    </div>
  );
}

/** Puts a remembered range into the address of the page, so that a copied address shows the same days. */
function useShownAddress({ path, params, range }: Props) {
  const { period, compare } = range;
  useEffect(() => {
    const isShown = new URLSearchParams(window.location.search).has("period");
    if (params.period === undefined || isShown || window.location.pathname !== path) return;
    const href = hrefOfPeriod(
      path,
      { ...params, compare: period === "all" ? undefined : compare },
      { period },
    );
    window.history.replaceState(null, "", href);
  }, [path, params, period, compare]);
}

const stepClass = buttonVariants({ variant: "ghost", size: "sm", className: "w-7 px-0" });

/** A link to the previous or the next range. */
function Step({
  path,
  params,
  isRemembered = true,
  to,
  label,
  children,
}: Props & { to: PeriodChoice | null; label: string; children: ReactNode }) {
  if (to === null) {
    return (
      <span aria-hidden="true" className={cn(stepClass, "pointer-events-none opacity-40")}>
        {children}
      </span>
    );
  }
  const { from = null, to: last = null } = to;
  const name = `${label}: ${nameRange({ period: to.period, from, to: last })}`;
  return (
    <Link
      href={hrefOfPeriod(path, params, to)}
      prefetch={false}
      scroll={false}
      aria-label={from === null ? label : name}
      className={stepClass}
      onClick={() => isRemembered && remember(to, params)}
    >
      {children}
    </Link>
  );
}

/** Keeps a choice in this browser, unless it has fixed days. */
function remember({ period }: PeriodChoice, params: SearchParams): void {
  const compare = compareOptions.find((option) => option.compare === params.compare)?.compare ?? "previous";
  if (period === "range") return;
  const kept = { period, compare: period === "all" ? "none" : compare } as const;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
  document.cookie = writeRangeCookie(kept, window.location.protocol === "https:");
}

function PeriodMenu({ path, params, range, isRemembered = true }: Props) {
  const router = useRouter();
  const menu = useMenu();
  const { from, to } = range;
  const choose = (days: { from: string; to: string }) => {
    menu.close();
    router.push(hrefOfPeriod(path, params, { period: "range", ...days }), { scroll: false });
  };
  return (
    <Popover>
      <PopoverTrigger variant="outline" size="sm" aria-label={`Period: ${nameRange(range)}`}>
        <CalendarDays aria-hidden="true" />
        {nameRange(range)}
      </PopoverTrigger>
      <PopoverContent
        {...menu.props}
        role="dialog"
        aria-label="Period"
        className="max-h-[85dvh] w-auto p-0 open:flex max-sm:flex-col"
      >
        <ul className="grid content-start gap-0.5 p-2 max-sm:grid-cols-2 sm:w-40 sm:border-r">
          {presets.map(({ period, label }) => (
            <Choice
              key={period}
              href={hrefOfPeriod(path, params, { period })}
              current={range.period === period}
              onChoose={() => {
                menu.close();
                if (isRemembered) remember({ period }, params);
              }}
            >
              {label}
            </Choice>
          ))}
        </ul>
        {menu.wasOpened ? (
          <DayCalendar
            key={`${from} ${to}`}
            days={from === null || to === null ? undefined : { from, to }}
            today={range.today}
            onChoose={choose}
          />
        ) : null}
      </PopoverContent>
    </Popover>
  );
}

function CompareMenu({ path, params, range }: Props) {
  const router = useRouter();
  const menu = useMenu();
  const [hasCalendar, setCalendar] = useState(range.compare === "range");
  const { previous, compare, today } = range;
  const name = previous ? `vs ${nameDays(previous.from, previous.to)}` : "Compare";
  const go = (choice: CompareChoice) => {
    menu.close();
    router.push(hrefOfComparison(path, params, choice), { scroll: false });
  };
  return (
    <Popover>
      <PopoverTrigger
        variant="ghost"
        size="sm"
        aria-label={`Compared with: ${previous ? nameDays(previous.from, previous.to) : "nothing"}`}
        className="text-muted-foreground max-sm:order-2"
      >
        {name}
      </PopoverTrigger>
      <PopoverContent
        {...menu.props}
        place="bottom-end"
        role="dialog"
        aria-label="Compare with"
        className="max-h-[85dvh] w-auto min-w-56 p-0"
      >
        <ul className="grid gap-0.5 p-2">
          {compareOptions.map((option) => (
            <Choice
              key={option.compare}
              href={hrefOfComparison(path, params, option)}
              current={option.compare === compare}
              onChoose={() => {
                menu.close();
                if (range.period !== "range")
                  remember({ period: range.period }, { ...params, compare: option.compare });
              }}
            >
              {option.label}
            </Choice>
          ))}
          <li>
            <button
              type="button"
              aria-expanded={hasCalendar}
              onClick={() => setCalendar(!hasCalendar)}
              className={choiceClass(compare === "range")}
            >
              Chosen days…
            </button>
          </li>
        </ul>
        {menu.wasOpened && hasCalendar ? (
          <div className="border-t">
            <DayCalendar
              key={`${previous?.from} ${previous?.to}`}
              days={previous ?? undefined}
              today={today}
              onChoose={({ from, to }) => go({ compare: "range", compare_from: from, compare_to: to })}
            />
          </div>
        ) : null}
      </PopoverContent>
    </Popover>
  );
}

/** The state of a popover whose content is loaded when it is first opened, and that a choice closes. */
function useMenu() {
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
  return {
    wasOpened,
    close: () => element.current?.hidePopover(),
    props: { ref: element, onBeforeToggle: open },
  };
}

const choiceClass = (current: boolean) =>
  cn(
    "block w-full rounded-md px-2 py-1.5 text-left text-sm hover:bg-accent",
    current && "bg-accent font-medium",
  );

function Choice({
  href,
  current,
  onChoose,
  children,
}: {
  href: string;
  current: boolean;
  onChoose: () => void;
  children: ReactNode;
}) {
  return (
    <li>
      <Link
        href={href}
        prefetch={false}
        scroll={false}
        aria-current={current ? "true" : undefined}
        onClick={onChoose}
        className={choiceClass(current)}
      >
        {children}
      </Link>
    </li>
  );
}
