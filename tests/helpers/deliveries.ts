import { afterEach, beforeEach } from "vitest";
import { attempt } from "@/lib/alerts/delivery/attempt";
import { DeliveryPump } from "@/lib/alerts/delivery/pump";
import { crossing, deliveriesOf, openReceiver, outsideWorld, type Receiver, raise } from "./alerts";
import { connectService } from "./connect-service";
import { type OpenDatabase, withDatabase } from "./with-database";

/** What a test of deliveries has: a workspace, a receiver of the test's own, and the pump that sends. */
export type OpenDeliveries = OpenDatabase & {
  workspace: string;
  /** Receives what is sent to `https://receiver.example`. */
  receiver: Receiver;
  /** Receives what is sent to `https://hanging.example`, and never answers. */
  hanging: Receiver;
  world: ReturnType<typeof outsideWorld>;
  pump: DeliveryPump;
};

/**
 * Gives the tests of a file a database, and each test a new workspace whose alerts the service's code delivers.
 * @param use receives these before each test; keeps what the tests need
 */
export function withDeliveries(use: (open: OpenDeliveries) => void) {
  let open: OpenDeliveries;
  let opened: OpenDatabase;
  withDatabase((database) => {
    opened = database;
  });
  connectService(() => opened.database);
  beforeEach(async () => {
    const [workspace, receiver, hanging] = await Promise.all([
      opened.fixtures.workspace(),
      openReceiver(),
      openReceiver(),
    ]);
    hanging.answer = () => {};
    const world = outsideWorld({ "receiver.example": receiver, "hanging.example": hanging });
    const pump = new DeliveryPump((delivery) => attempt(delivery, world));
    open = { ...opened, workspace, receiver, hanging, world, pump };
    use(open);
  });
  afterEach(async () => {
    await Promise.all([open.receiver.close(), open.hanging.close()]);
    await open.pump.close();
    await open.fixtures.sql.query("delete from public.workspaces where id = $1", [open.workspace]);
  });

  return {
    /** Sends what is due until nothing is. */
    work: async (): Promise<void> => {
      await open.pump.look();
      await open.pump.drain();
    },
    /** Raises an alert of each level for one budget, in this order. */
    raiseLevels: (...levels: string[]) =>
      raise(open.fixtures, ...levels.map((level) => crossing(open.workspace, { level }))),
    /** A channel as stored. */
    stored: async (id: string) =>
      (await open.fixtures.sql.query("select * from public.alert_channels where id = $1", [id])).rows[0],
    /** The level and the state of each delivery of a channel, the first first. */
    states: async (id: string) =>
      (await deliveriesOf(open.fixtures, id)).map(({ level, state }) => `${level} ${state}`),
  };
}
