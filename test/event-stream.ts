/** One server-sent event: its name, and its data as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
export type StreamEvent = { event: string; data: any };

/** The events of a stream as they come; comments and settings are passed over. */
export async function* readEvents(stream: AsyncIterable<string | Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      const event = fields.get('event');
      if (event !== undefined) yield { event, data: JSON.parse(fields.get('data') ?? 'null') };
    }
  }
}
