/** The text of a job as it was sent, and how far the present attempt has come in it. */
export class GrowingText {
  #sent = '';
  /** Length of the text of this attempt. */
  #length = 0;

  get sent(): string {
    return this.#sent;
  }

  /** The job is started again: its pieces come from the first. */
  restart(): void {
    this.#length = 0;
  }

  /**
   * Takes the text of the next piece. Returns the part of it that is to be sent, which may be empty; null when the text
   * differs from what was sent. Only the piece is compared: a text grows by thousands of them.
   */
  add(piece: string): string | null {
    const part = this.#length > 0 && piece !== '' ? ` ${piece}` : piece;
    const isBehind = this.#length < this.#sent.length;
    const known = isBehind ? this.#sent.slice(this.#length, this.#length + part.length) : '';
    if (!part.startsWith(known)) return null;
    this.#length += part.length;
    return this.#grow(part.slice(known.length));
  }

  /** Takes the whole text. Returns what is to be sent of it; null when it differs from what was sent. */
  end(text: string): string | null {
    return text.startsWith(this.#sent) ? this.#grow(text.slice(this.#sent.length)) : null;
  }

  #grow(part: string): string {
    this.#sent += part;
    return part;
  }
}
