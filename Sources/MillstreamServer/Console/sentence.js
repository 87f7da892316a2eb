// Errors as whole sentences. The server's messages are fragments in lower case, often with an address at one end.

/** What some codes mean to a person at this page, who typed no request and knows no transport. */
const plainly = {
    'cannot-connect': 'The origin does not answer.',
    'timed-out': 'The origin does not answer.',
    'unknown-host': 'The origin’s name is not known.',
    'connection-lost': 'The origin broke off its answer.',
    'missing-url': 'An address begins with http:// or https://.',
    'address-refused': 'This server may not load from this address.',
};

/**
 * An error, the server's or another, as `{message, hint, address}`: whole sentences, and the address they are about on
 * its own, so that no full stop touches it.
 */
export function accountOf({ code, message, hint }) {
    const { text, address } = withoutAddress(message || 'Something went wrong');
    const said = Object.hasOwn(plainly, code) ? plainly[code]
        // To the server this is another server; to a person this server is the only one.
        : code === 'http-status' ? text.replace(/^the server /, 'the origin ') : text;
    return { message: wholeSentence(said), hint: hint && wholeSentence(hint), address };
}

/** The same as one text; the address stands last. */
export function sentenceOf(error) {
    const { message, hint, address } = accountOf(error);
    return [message, hint, address].filter(Boolean).join(' ');
}

/** Begins with a capital and ends with a full stop. */
function wholeSentence(text) {
    const begun = text.charAt(0).toUpperCase() + text.slice(1);
    return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

function withoutAddress(message) {
    const last = message.match(/^(.*\S):\s+(https?:\/\/\S+)$/s);
    if (last) return { text: last[1], address: last[2] };
    const first = message.match(/^(https?:\/\/\S*[^\s:]):?\s+(.+)$/s);
    if (!first) return { text: message };
    // "ADDRESS: a web page" and "ADDRESS is a web page": what stood for the subject is gone.
    const [, address, rest] = first;
    const subject = /^(an?|not|no) /.test(rest) ? 'this is ' : /^(is|has) /.test(rest) ? 'this address ' : '';
    return { text: subject + rest, address };
}
