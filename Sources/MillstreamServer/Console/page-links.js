// The identifiers of the links over which the server sends streams to this page only. A page that is loaded again has the same ones, so
// that the server does not report links that nothing uses any more.

const storageKey = 'links';

/** The identifiers, by the source of the stream or the identifier of the asset. */
export class PageLinks {
    #identifiers = new Map(storedEntries());

    get(key) {
        return this.#identifiers.get(key);
    }

    /** Whether a link is one of this page. */
    hasIdentifier(id) {
        return [...this.#identifiers.values()].includes(id);
    }

    /** Adds an identifier that no other page has. */
    add(key) {
        const bytes = [...crypto.getRandomValues(new Uint8Array(12))];
        this.#identifiers.set(key, bytes.map((byte) => (byte % 36).toString(36)).join(''));
        try {
            sessionStorage.setItem(storageKey, JSON.stringify([...this.#identifiers]));
        } catch {
            // The browser stores nothing; the next load of the page has other identifiers.
        }
    }
}

function storedEntries() {
    try {
        return JSON.parse(sessionStorage.getItem(storageKey)) ?? [];
    } catch {
        return [];
    }
}
