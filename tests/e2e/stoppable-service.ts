import { type Service, startService, withPages } from "@/tests/helpers/service";

type Database = { url: string; adminUrl: string };

/** A service that stops, so that nothing listens on its port, and starts again there. */
export class StoppableService {
  readonly #database: Database;
  #service: Service;

  private constructor(database: Database, service: Service) {
    this.#database = database;
    this.#service = service;
  }

  static async start(database: Database): Promise<StoppableService> {
    return new StoppableService(database, await startService(database, withPages));
  }

  /** The same before and after a stop. */
  get baseUrl(): string {
    return this.#service.baseUrl;
  }

  /** Ends it as an operator does, or as a crash does. */
  async stop({ kill = false } = {}): Promise<void> {
    await (kill ? this.#service.kill() : this.#service.stop());
  }

  async startAgain(): Promise<void> {
    const { port } = new URL(this.baseUrl);
    this.#service = await startService(this.#database, { ...withPages, PORT: port });
  }
}
