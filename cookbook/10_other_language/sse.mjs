// Server-sent events: bytes become events, as the WHATWG standard says.

// A server that never ends its event must not fill the memory.
const LONGEST_EVENT = 16 * 1024 * 1024;

export class TooLong extends Error {}

export class EventReader {
  // onEvent(name, data) for each event; onComment() for each comment.
  constructor(onEvent, onComment) {
    this.onEvent = onEvent;
    this.onComment = onComment;
    this.text = new TextDecoder("utf-8"); // skips a byte order mark, mends bad bytes
    this.line = [];
    this.length = 0;
    this.afterCr = false;
    this.name = "";
    this.data = [];
  }

  feed(bytes) {
    let rest = this.text.decode(bytes, { stream: true });
    if (this.afterCr && rest.startsWith("\n")) rest = rest.slice(1);
    if (rest) this.afterCr = false;
    const lines = rest.split(/\r\n|\r|\n/);
    this.afterCr = rest ? rest.endsWith("\r") : this.afterCr;
    lines.forEach((part, position) => {
      this.length += part.length + 1;
      if (this.length > LONGEST_EVENT) throw new TooLong("an event of more than 16 MiB");
      this.line.push(part);
      if (position < lines.length - 1) {
        const line = this.line.join("");
        this.line = [];
        this.take(line);
      }
    });
  }

  take(line) {
    if (line === "") {
      const { name, data } = this;
      this.name = "";
      this.data = [];
      this.length = 0;
      if (data.length) this.onEvent(name, data.join("\n"));
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return this.onComment();
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    if (field === "event") this.name = value;
  }
}
