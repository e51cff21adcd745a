"use client";

import { Check } from "lucide-react";
import type { ComponentProps, KeyboardEvent, ReactNode } from "react";
import { indexAfterKey } from "./arrow-keys";
import { cn } from "./cn";
import { Link } from "./link";
import { Popover, PopoverContent, PopoverTrigger, usePopover } from "./popover";

export { Popover as DropdownMenu };

const itemSelector = '[role^="menuitem"]:not([aria-disabled="true"])';

/** The button that opens the menu, with a click or the down arrow. */
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
        // At once, because the next key may be pressed before the browser sends the toggle event.
        if (menu) focusFirstItem(menu);
      }}
      {...props}
    />
  );
}

/** The menu. Arrow keys, Home, End and first letters move in it; Tab closes it. */
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

/** Returns the focus to the button. The browser does not do so for a popover inside another one, such as the sidebar. */
function returnFocus(menu: HTMLElement): void {
  const active = document.activeElement;
  if (active !== document.body && !menu.contains(active)) return;
  document.querySelector<HTMLElement>(`[popovertarget="${menu.id}"]`)?.focus();
}

function moveInMenu(event: KeyboardEvent<HTMLElement>): void {
  const menu = event.currentTarget;
  const items = [...menu.querySelectorAll<HTMLElement>(itemSelector)];
  const index = items.indexOf(document.activeElement as HTMLElement);
  const { key } = event;
  const moved = indexAfterKey(key, index, items.length, { wraps: true, hasEnds: true });
  const isCharacter = key.length === 1 && key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (key === "Tab") menu.hidePopover();
  if (moved === undefined && !isCharacter) return;
  event.preventDefault();
  if (moved === undefined) itemStartingWith(key, items, index)?.focus();
  else items[moved]?.focus();
}

/** The next item after `index` whose text starts with a character. */
function itemStartingWith(character: string, items: HTMLElement[], index: number): HTMLElement | undefined {
  const following = [...items.slice(index + 1), ...items.slice(0, index + 1)];
  return following.find((item) => item.textContent?.trim().toLowerCase().startsWith(character.toLowerCase()));
}

/** Closes the menu that an element is in. */
function closeMenu(element: Element): void {
  element.closest<HTMLElement>("[popover]")?.hidePopover();
}

const itemClass =
  "flex min-h-8 w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm outline-none hover:bg-accent focus:bg-accent aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted-foreground";

/** A menu item that runs an action. With `checked`, it is one of several choices. */
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

/** A menu item that is a link. @param props.isFile true for an address that is not a Next page, such as the static reference */
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

/** A menu item that downloads a file. @param props.onSelect starts the download; clicks with a modifier key follow the link */
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

/** A label above menu items. */
export function DropdownMenuLabel({ className, ...props }: ComponentProps<"p">) {
  return <p className={cn("truncate px-2 py-1.5 text-muted-foreground text-xs", className)} {...props} />;
}

/** A line between menu items. */
export function DropdownMenuSeparator() {
  return <hr className="-mx-1 my-1 border-t" />;
}
