/** Says that the service cannot be reached, while a link waits for it. `app/docs/browser/connection.ts` shows it. */
export function ConnectionNotice() {
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex justify-center px-4 print:hidden"
    >
      <p
        hidden
        data-unreachable=""
        className="rounded-lg border border-warning/50 bg-popover px-3.5 py-2.5 text-popover-foreground text-sm shadow-lg"
      >
        Outlay cannot be reached. Trying again…
      </p>
    </div>
  );
}
