export type ServerSentEvent = { event: string; data: string };

/**
 * A reader of server-sent events: give it the text as it comes, get the events that are whole. EventSource is of no use
 * to the console, for it cannot send the key.
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
