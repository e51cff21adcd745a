import { IncomingMessage } from "node:http";

const upgrade = Symbol("upgrade");

/**
 * A request whose `upgrade` is true for WebSockets only. Once there is a listener for "upgrade", Node passes it every
 * request with an `Upgrade` header, and Next adds such a listener with its first page. Requests that offer HTTP/2
 * (`Upgrade: h2c`, as Java's default client does) would then never be answered. A server may ignore an upgrade (RFC 9110
 * section 7.8), so these requests are answered over HTTP/1.1. Newer versions of Node have `shouldUpgradeCallback` for
 * this.
 */
export class UpgradableRequest extends IncomingMessage {
  declare [upgrade]: boolean;
}

// Accessors on the prototype, because Node assigns `upgrade` in its constructor and again after it has read the
// headers.
Object.defineProperty(UpgradableRequest.prototype, "upgrade", {
  configurable: true,
  get(this: UpgradableRequest): boolean {
    if (!this[upgrade]) return false;
    return this.method === "CONNECT" || this.headers.upgrade?.toLowerCase() === "websocket";
  },
  set(this: UpgradableRequest, value: boolean) {
    this[upgrade] = value;
  },
});
