export type ServerSentEvent = { event: string; data: string };

/**
 * A parser of server-sent events: each call takes the next piece of text and returns the events that are complete. Not
 * EventSource, because that cannot send the key.
 */
export function openEventReader(): (text: string) => ServerSentEvent[] {
  let rest = '';
  return (text) => {
    const blocks = `${rest}${text}`.split('\n\n');
    rest = blocks.pop() ?? '';
    return blocks.map(readEvent).filter((event) => event.data !== '');
  };
}

function readEvent(block: string): ServerSentEvent {
  const values = (name: string) =>
    block.split('\n').flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
  return { event: values('event').at(-1) ?? 'message', data: values('data').join('\n') };
}
