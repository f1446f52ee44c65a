import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// HTTP pipelining is rare, and the clients that use it send a few requests at a time.
const MAX_WAITING = 100;

type Queue = { isBusy: boolean; waiting: [IncomingMessage, ServerResponse][] };

/**
 * Handles the requests of a connection one after the other. HTTP/1.1 requires their answers in this order, and if the
 * thousands of requests that fit into one read were started together, all other connections would wait. A connection
 * with more than 100 waiting requests is closed.
 */
export function oneByOne(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, Queue>();

  function run(queue: Queue, request: IncomingMessage, response: ServerResponse): void {
    queue.isBusy = true;
    response.once('close', () => runNext(queue, request.socket));
    handle(request, response);
  }

  function runNext(queue: Queue, socket: Socket): void {
    const next = queue.waiting.shift();
    if (!next) {
      queue.isBusy = false;
      return;
    }
    // Lets the event loop serve other connections first.
    setImmediate(() => {
      if (socket.destroyed) queue.waiting = [];
      else run(queue, ...next);
    });
  }

  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket) ?? { isBusy: false, waiting: [] };
    queues.set(socket, queue);
    if (!queue.isBusy) run(queue, request, response);
    else if (queue.waiting.length < MAX_WAITING) queue.waiting.push([request, response]);
    else socket.destroy();
  };
}
