import type { ReactNode } from "react";
import { cn } from "./cn";
import { Link } from "./link";

const frame =
  "inline-flex max-w-full overflow-x-auto rounded-md border border-input bg-background p-0.5 text-[13px]";
const part =
  "inline-flex h-7 cursor-pointer items-center whitespace-nowrap rounded-[5px] px-2.5 text-muted-foreground hover:text-foreground";
const chosen = "bg-accent text-foreground";

/** Links that choose one of a few views of a page. The choice is kept in the address, so it needs no script. */
export function SegmentedLinks({
  label,
  options,
  className,
}: {
  label: string;
  options: { href: string; label: string; current: boolean }[];
  className?: string;
}) {
  return (
    <nav aria-label={label} className={cn(frame, className)}>
      {options.map((option) => (
        <Link
          key={option.label}
          href={option.href}
          scroll={false}
          replace
          aria-current={option.current ? "true" : undefined}
          className={cn(part, option.current && chosen)}
        >
          {option.label}
        </Link>
      ))}
    </nav>
  );
}

/** Radio buttons for one of a few options, shown as a single control. */
export function SegmentedControl({
  legend,
  name,
  options,
  value,
  onChange,
  className,
}: {
  legend: string;
  name: string;
  options: { value: string; label: ReactNode }[];
  value: string;
  onChange: (value: string) => void;
  className?: string;
}) {
  return (
    <fieldset className={cn(frame, className)}>
      <legend className="sr-only">{legend}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={cn(
            part,
            "has-checked:bg-accent has-checked:text-foreground has-focus-visible:outline-2 has-focus-visible:outline-ring",
          )}
        >
          <input
            type="radio"
            autoComplete="off"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
