/** A decimal number as text, exactly as the server wrote it. It never passes through a float. */
export type Decimal = string;

const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;

/**
 * Parses JSON without loss: a number that a float cannot hold exactly becomes text. With a list of
 * fields every number in those fields becomes text, so that their type does not depend on the value.
 */
export function parseExact<T>(text: string, decimals: readonly string[] = []): T {
  let out = "";
  let field = "";
  for (let i = 0; i < text.length; ) {
    const c = text[i]!;
    if (c === '"') {
      const end = endOfString(text, i);
      const value = text.slice(i, end);
      if (/^\s*:/.test(text.slice(end, end + 20))) field = JSON.parse(value) as string;
      out += value;
      i = end;
    } else if (c === "-" || (c >= "0" && c <= "9")) {
      NUMBER.lastIndex = i;
      const literal = NUMBER.exec(text)![0];
      out += decimals.includes(field) || !isExact(literal) ? `"${literal}"` : literal;
      i += literal.length;
    } else {
      out += c;
      i++;
    }
  }
  return JSON.parse(out) as T;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
  return i + 1;
}

function isExact(literal: string): boolean {
  return /^-?\d{1,15}$/.test(literal) || Number.isSafeInteger(Number(literal));
}
