import type { ComponentProps } from "react";
import { cn } from "./cn";

/** A table as wide as the text around it. It scrolls horizontally when the page is too narrow. */
export function Table({ className, ...props }: ComponentProps<"table">) {
  return (
    <div className="relative w-full overflow-x-auto">
      <table
        className={cn(
          "w-full caption-bottom text-sm [&_:is(th,td):first-child]:pl-0 [&_:is(th,td):last-child]:pr-0",
          className,
        )}
        {...props}
      />
    </div>
  );
}

/** The head of a table. */
export function TableHeader({ className, ...props }: ComponentProps<"thead">) {
  return <thead className={cn("[&_tr]:border-b", className)} {...props} />;
}

/** The body of a table. */
export function TableBody({ className, ...props }: ComponentProps<"tbody">) {
  return <tbody className={cn("[&_tr:last-child]:border-0", className)} {...props} />;
}

/** A row of a table. */
export function TableRow({ className, ...props }: ComponentProps<"tr">) {
  return <tr className={cn("border-b", className)} {...props} />;
}

/** The heading of a column. */
export function TableHead({ className, ...props }: ComponentProps<"th">) {
  return (
    <th
      scope="col"
      className={cn(
        "h-9 whitespace-nowrap px-3 text-left align-middle font-medium text-muted-foreground text-xs",
        className,
      )}
      {...props}
    />
  );
}

/** A cell of a table. */
export function TableCell({ className, ...props }: ComponentProps<"td">) {
  return <td className={cn("px-3 py-2 align-top", className)} {...props} />;
}
