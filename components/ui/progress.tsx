/** A progress bar. `fraction` is from 0 to 1. */
export function Progress({ fraction, label }: { fraction: number; label: string }) {
  const percent = Math.floor(Math.min(Math.max(fraction, 0), 1) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="h-1.5 overflow-hidden rounded-full bg-secondary"
    >
      <div
        className="h-full rounded-full bg-primary transition-[width] duration-120"
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
