import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// Clients that send requests before they have the answers to earlier ones are rare, and send a handful.
const MAX_WAITING = 100;

type Turn = { isBusy: boolean; waiting: [IncomingMessage, ServerResponse][] };

/**
 * Handles the requests of a connection one after the other. Their answers have to leave in that order anyway; begun all
 * at once, the thousands of requests that fit into one read would keep every other connection waiting. A connection with
 * more than 100 requests that wait is closed.
 */
export function oneByOne(handle: RequestListener): RequestListener {
  const turns = new WeakMap<Socket, Turn>();

  function run(turn: Turn, request: IncomingMessage, response: ServerResponse): void {
    turn.isBusy = true;
    response.once('close', () => runNext(turn, request.socket));
    handle(request, response);
  }

  function runNext(turn: Turn, socket: Socket): void {
    const next = turn.waiting.shift();
    if (!next) {
      turn.isBusy = false;
      return;
    }
    // Other connections go first.
    setImmediate(() => {
      if (socket.destroyed) turn.waiting = [];
      else run(turn, ...next);
    });
  }

  return (request, response) => {
    const { socket } = request;
    const turn = turns.get(socket) ?? { isBusy: false, waiting: [] };
    turns.set(socket, turn);
    if (!turn.isBusy) run(turn, request, response);
    else if (turn.waiting.length < MAX_WAITING) turn.waiting.push([request, response]);
    else socket.destroy();
  };
}
