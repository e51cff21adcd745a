/** The name of the palette's text field. */
export const fieldLabel = "Search pages, projects and actions";

/** The classes of the palette's text field, of the line it is on and of the list below, before and after it is loaded. */
export const look = {
  line: "flex items-center gap-2.5 border-b px-4",
  field:
    "h-12 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-muted-foreground sm:text-sm",
  list: "h-[min(22rem,60dvh)]",
};
