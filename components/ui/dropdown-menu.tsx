"use client";

import { Check } from "lucide-react";
import Link from "next/link";
import type { ComponentProps, KeyboardEvent, ReactNode } from "react";
import { cn } from "@/components/cn";
import { Popover, PopoverContent, PopoverTrigger, usePopover } from "./popover";

export { Popover as DropdownMenu };

const itemSelector = '[role^="menuitem"]:not([aria-disabled="true"])';

/** The button that opens the menu; the arrow down does, too. */
export function DropdownMenuTrigger(props: ComponentProps<typeof PopoverTrigger>) {
  const { id } = usePopover();
  return (
    <PopoverTrigger
      aria-haspopup="menu"
      onKeyDown={(event) => {
        if (event.key !== "ArrowDown") return;
        event.preventDefault();
        const menu = document.getElementById(id);
        menu?.showPopover();
        // Now, for the next key may be pressed before the browser says that the menu is open.
        if (menu) focusFirstItem(menu);
      }}
      {...props}
    />
  );
}

/** The menu. Arrows, Home, End and first letters move in it; Tab leaves it. */
export function DropdownMenuContent({ className, ...props }: ComponentProps<typeof PopoverContent>) {
  return (
    <PopoverContent
      role="menu"
      onToggle={({ currentTarget, newState }) => {
        if (newState === "open") focusFirstItem(currentTarget);
        else returnFocus(currentTarget);
      }}
      onKeyDown={moveInMenu}
      className={cn("w-52 p-1", className)}
      {...props}
    />
  );
}

function focusFirstItem(menu: HTMLElement): void {
  if (menu.contains(document.activeElement)) return;
  menu.querySelector<HTMLElement>(itemSelector)?.focus();
}

/** Of a popover within another, such as a drawer, the browser does not give the focus back to the button. */
function returnFocus(menu: HTMLElement): void {
  const active = document.activeElement;
  if (active !== document.body && !menu.contains(active)) return;
  document.querySelector<HTMLElement>(`[popovertarget="${menu.id}"]`)?.focus();
}

function moveInMenu(event: KeyboardEvent<HTMLElement>): void {
  const menu = event.currentTarget;
  const items = [...menu.querySelectorAll<HTMLElement>(itemSelector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const focus = (item: HTMLElement | undefined) => {
    event.preventDefault();
    item?.focus();
  };
  const { key } = event;
  if (key === "ArrowDown") focus(items[(at + 1) % items.length]);
  else if (key === "ArrowUp") focus(items.at(at <= 0 ? -1 : at - 1));
  else if (key === "Home") focus(items[0]);
  else if (key === "End") focus(items.at(-1));
  else if (key === "Tab") menu.hidePopover();
  else if (key.length === 1 && key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    focus(after.find((item) => item.textContent?.trim().toLowerCase().startsWith(key.toLowerCase())));
  }
}

/** Closes the menu an element is in; the focus returns to its button. */
function closeMenu(element: Element): void {
  element.closest<HTMLElement>("[popover]")?.hidePopover();
}

const itemClass =
  "flex min-h-8 w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm outline-none hover:bg-accent focus:bg-accent aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted-foreground";

/** Something to do. `checked` makes it a choice that is made or not. */
export function DropdownMenuItem({
  onSelect,
  checked,
  disabled = false,
  destructive = false,
  className,
  children,
}: {
  onSelect: () => void;
  checked?: boolean;
  disabled?: boolean;
  destructive?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      {...(checked === undefined ? { role: "menuitem" } : { role: "menuitemradio", "aria-checked": checked })}
      aria-disabled={disabled}
      tabIndex={-1}
      onClick={({ currentTarget }) => {
        if (disabled) return;
        closeMenu(currentTarget);
        onSelect();
      }}
      className={cn(itemClass, destructive && "text-destructive [&_svg]:text-destructive", className)}
    >
      {children}
      {checked ? <Check aria-hidden="true" className="ml-auto" /> : null}
    </button>
  );
}

/** Somewhere to go. @param props.isFile it is no page of Next's, and is loaded as a whole */
export function DropdownMenuLink({
  href,
  current = false,
  isFile = false,
  className,
  children,
}: {
  href: string;
  current?: boolean;
  isFile?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const Anchor = isFile ? "a" : Link;
  return (
    <Anchor
      href={href}
      role="menuitem"
      tabIndex={-1}
      aria-current={current ? "true" : undefined}
      onClick={({ currentTarget }) => closeMenu(currentTarget)}
      className={cn(itemClass, className)}
    >
      {children}
      {current ? <Check aria-hidden="true" className="ml-auto" /> : null}
    </Anchor>
  );
}

/** A file to save. @param onSelect saves it, or says why not; a link that is opened elsewhere goes by itself */
export function DropdownMenuDownload({
  href,
  onSelect,
  children,
}: {
  href: string;
  onSelect: (href: string) => void;
  children: ReactNode;
}) {
  return (
    <a
      href={href}
      download
      role="menuitem"
      tabIndex={-1}
      onClick={(event) => {
        closeMenu(event.currentTarget);
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onSelect(href);
      }}
      className={itemClass}
    >
      {children}
    </a>
  );
}

/** What the items below it are. */
export function DropdownMenuLabel({ className, ...props }: ComponentProps<"p">) {
  return <p className={cn("truncate px-2 py-1.5 text-muted-foreground text-xs", className)} {...props} />;
}

/** A line between items. */
export function DropdownMenuSeparator() {
  return <hr className="-mx-1 my-1 border-t" />;
}
