// Links to games and positions: the page's address with their text after '#'
// (docs/reference/rules.md section 12.2), in characters that no programs for
// mail and chat take out of an address.

// Returns the link to the game or position of a short text, on one line.
export function linkTo(text: string): string {
  const { origin, pathname, search } = location;
  return `${origin}${pathname}${search}#${encode(text)}`;
}

// Spaces become '+', which no text has. A '*' would be taken for bold print,
// and a '-' at the end for the sentence's.
export function encode(text: string): string {
  return text.replace(/ /g, '+').replace(/\*/g, '%2A').replace(/-$/, '%2D');
}

// Returns the text after the '#' of an address, without what chats and trackers
// append: no text but JSON has an '&' or a '?', or ends with a ')' or a full
// stop. Throws if it is not text.
export function decode(fragment: string): string {
  try {
    const text = decodeURIComponent(fragment.replace(/\+/g, ' '));
    if (text.startsWith('{')) return text;
    return text.replace(/[&?].*$/s, '').replace(/[^\w*-]+$/, '');
  } catch {
    throw new Error(
      `'${fragment}' is not text: a % in it is not followed by two digits ` +
        '(hexadecimal) of a character',
    );
  }
}

// Returns the pasted text, or the content of a pasted link.
export function textOfPasted(pasted: string): string {
  const trimmed = pasted.trim();
  const link = /^\w+:\/\/[^\s#]*#(\S+)$/.exec(trimmed);
  return link === null ? trimmed : decode(link[1]!);
}
