import { Mark } from "@/components/shell/mark";
import { buttonVariants } from "@/components/ui/button";

/** The header of the reference. The search needs scripts and is invisible without them. */
export function DocsHeader() {
  return (
    <header className="sticky top-0 z-30 border-b bg-background">
      <div className="mx-auto flex h-14 max-w-[1440px] items-center gap-2 px-4 sm:px-6">
        <a
          href="/"
          className="flex items-center gap-2 rounded-sm font-semibold tracking-tight"
          aria-label="Outlay, start page"
        >
          <Mark className="size-5" />
          Outlay
        </a>
        <a
          href="/docs"
          className="hidden items-center gap-2 text-muted-foreground text-sm hover:text-foreground sm:flex"
        >
          <span aria-hidden="true" className="text-border">
            /
          </span>
          API reference
        </a>
        <div className="ml-auto flex items-center gap-1">
          <button
            type="button"
            data-open-search=""
            aria-keyshortcuts="/ Meta+K Control+K"
            className="invisible flex h-8 items-center gap-2 rounded-md border border-input px-2.5 text-[13px] text-muted-foreground hover:bg-accent js:visible sm:w-44"
          >
            <span className="flex-1 text-left">Search</span>
            <span aria-hidden="true" className="hidden text-xs sm:inline">
              /
            </span>
          </button>
          <a href="/sign-in" className={buttonVariants({ variant: "outline", size: "sm" })}>
            Sign in
          </a>
        </div>
      </div>
    </header>
  );
}

/** The dialog of the search, which `app/docs/browser/search.ts` opens and fills. */
export function SearchDialog() {
  return (
    <dialog
      data-search=""
      closedby="any"
      aria-label="Search the reference"
      className="mx-auto mt-0 w-full max-w-xl rounded-b-xl border bg-popover text-foreground backdrop:bg-black/40 sm:mt-[12dvh] sm:rounded-xl"
    >
      <div className="flex items-center gap-2 border-b px-4">
        <input
          aria-label="Search endpoints, fields and errors"
          autoComplete="off"
          spellCheck="false"
          placeholder="Search endpoints, fields and errors"
          className="h-12 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-muted-foreground sm:text-sm"
        />
        <form method="dialog">
          <button
            type="submit"
            className="rounded-sm px-2 py-1 text-muted-foreground text-xs hover:text-foreground"
          >
            Close
          </button>
        </form>
      </div>
      <ul
        aria-label="Results"
        className="h-[min(24rem,60dvh)] overflow-y-auto p-1.5 [&_a:focus-visible]:bg-accent [&_a:hover]:bg-accent [&_a]:block [&_a]:rounded-md [&_a]:px-2.5 [&_a]:py-2 [&_a]:text-sm [&_small]:block [&_small]:truncate [&_small]:text-muted-foreground [&_small]:text-xs"
      />
      <p role="status" className="border-t px-4 py-2 text-muted-foreground text-xs" />
    </dialog>
  );
}
