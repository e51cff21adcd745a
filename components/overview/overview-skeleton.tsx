const rows = ["w-40", "w-32", "w-44", "w-28", "w-36", "w-24"];
const bar = "block rounded-sm bg-muted motion-safe:animate-pulse";

/** The shape of the overview while its figures are read. */
export function OverviewSkeleton() {
  return (
    <div className="grid gap-10" aria-busy="true">
      <div className="grid gap-3">
        <span className={`${bar} h-7 w-full max-w-xl`} />
        <span className={`${bar} h-5 w-full max-w-md`} />
      </div>
      <div className="max-w-3xl">
        <span className={`${bar} mb-4 h-4 w-20`} />
        {rows.map((width) => (
          <span key={width} className="flex justify-between border-t py-3">
            <span className={`${bar} h-4 ${width}`} />
            <span className={`${bar} h-4 w-20`} />
          </span>
        ))}
      </div>
    </div>
  );
}
