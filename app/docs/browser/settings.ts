/** A setting of this browser; null if it is not set, or the page may not use the storage. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Stores a setting. When the page may not use the storage, the setting only applies to this page. */
export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The setting is not stored.
  }
}
