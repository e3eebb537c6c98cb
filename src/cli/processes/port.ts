/** The port of the HTTP gateway. */
import { createServer } from "node:net";
import { portInUse } from "../../gateway/http/loopback.js";

/**
 * Rejects with PORT_IN_USE where somebody listens there now, before anything is started for nothing; another may still come
 * first.
 */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      // What else is wrong with the address is said by who listens there.
      error.code === "EADDRINUSE" ? reject(portInUse(host, port, error)) : resolve(),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}
