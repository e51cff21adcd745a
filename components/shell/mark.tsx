/** Outlay's logo without its name. It has the colour of the text around it. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" fill="none" aria-hidden="true" className={className}>
      <path d="M24.5 9.2A11 11 0 1 0 24.5 22.8" stroke="currentColor" strokeWidth="4" strokeLinecap="round" />
      <path d="M15.5 16H28.5" stroke="var(--primary)" strokeWidth="4" strokeLinecap="round" />
    </svg>
  );
}
