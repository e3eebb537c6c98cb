/** The way between one client and its server, whatever carries it. */
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import type { Channel } from "./open-request.js";

/** A transport, and what the tracker must know about its way back. */
export interface Line {
  transport: Transport;
  /** Sends messages that are not answers: progress, changes of the tool list. */
  notify(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>;
  channelOf(extra: MessageExtraInfo | undefined): Channel;
}
