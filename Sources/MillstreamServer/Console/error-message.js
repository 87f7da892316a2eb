// Errors as complete sentences. Messages of the server are phrases in lower case, often with a URL at either end.

/** Messages for error codes whose server message is not written for users of the console. */
const messagesByCode = {
    'cannot-connect': 'The origin is not responding.',
    'timed-out': 'The origin is not responding.',
    'unknown-host': 'The host name of the origin cannot be resolved.',
    'connection-lost': 'The origin closed the connection before the response was complete.',
    'missing-url': 'The URL must start with http:// or https://.',
    'address-refused': 'This server is not allowed to load this URL.',
};

/** Returns an error as `{message, hint, url}`: complete sentences, and the URL concerned without punctuation. */
export function errorDescription({ code, message, hint, status }) {
    const { text, url } = extractURL(message || 'An unknown error occurred');
    const description = Object.hasOwn(messagesByCode, code) ? messagesByCode[code]
        : code === 'simulated' && status > 0 ? `the server responded with status ${status}: this fault is simulated`
        // In such a message “the server” is the origin; in the console it is Millstream.
        : code === 'http-status' ? text.replace(/(^|: )the server /, '$1the origin ') : text;
    return { message: completeSentence(description), hint: hint && completeSentence(hint), url };
}

/** Returns an error as a single text that ends with the URL, if there is one. */
export function errorMessage(error) {
    const { message, hint, url } = errorDescription(error);
    return [message, hint, url].filter(Boolean).join(' ');
}

/** Capitalizes the first letter and adds a full stop. */
function completeSentence(text) {
    const capitalized = text.charAt(0).toUpperCase() + text.slice(1);
    return /[.!?…]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

/** Splits a message into its text and the URL at its start or end. */
function extractURL(message) {
    const trailing = message.match(/^(.*\S):\s+(https?:\/\/\S+)$/s);
    if (trailing) return { text: trailing[1], url: trailing[2] };
    const leading = message.match(/^(https?:\/\/\S*[^\s:]):?\s+(.+)$/s);
    if (!leading) return { text: message };
    // Replaces the URL as the subject: "URL: a web page" and "URL is a web page".
    const [, url, rest] = leading;
    const subject = /^(an?|not|no) /.test(rest) ? 'this is ' : /^(is|has) /.test(rest) ? 'this URL ' : '';
    return { text: subject + rest, url };
}
