// The requests of docs/formats/console-api.md, one function each.

/** What the server, or the way to it, says against a request: a message, and a hint where one is known. */
export class ServerError extends Error {
    constructor({ code = 'unknown', message, hint }, status = 0) {
        super(message);
        this.name = 'ServerError';
        this.code = code;
        this.hint = hint;
        this.status = status;
    }
}

/** Reads the error body of an answer; answers that carry none still get a message. */
export async function errorOf(response) {
    try {
        const { error } = await response.json();
        if (typeof error?.message === 'string') return new ServerError(error, response.status);
    } catch {
        // Not JSON: something in front of the server may have answered in its place.
    }
    return new ServerError({ message: `The server answered with status ${response.status}.` }, response.status);
}

async function request(method, path, body) {
    const options = { method, headers: { Accept: 'application/json' } };
    if (body !== undefined) {
        options.headers['Content-Type'] = 'application/json';
        options.body = JSON.stringify(body);
    }
    let response;
    try {
        response = await fetch(path, options);
    } catch {
        throw new ServerError({
            code: 'unreachable',
            message: 'The server does not answer.',
            hint: 'See whether “millstream serve” is still running.',
        });
    }
    if (!response.ok) throw await errorOf(response);
    if (response.status === 204) return undefined;
    try {
        return await response.json();
    } catch {
        throw new ServerError({ message: 'The server’s answer could not be read.' }, response.status);
    }
}

export async function readStreams() {
    return (await request('GET', '/api/streams')).streams ?? [];
}

export async function readAssets() {
    return (await request('GET', '/api/library')).assets ?? [];
}

export function inspect(source) {
    return request('GET', `/api/inspect?url=${encodeURIComponent(source)}`);
}

export function startDownload({ url, title, variants, maxHeight }) {
    return request('POST', '/api/downloads', { url, title, variants, maxHeight });
}

/** The networks that have a name, and those that players are behind now: `{presets, shared, links}`. */
export function readConditions() {
    return request('GET', '/api/conditions');
}

/**
 * Changes the network of a stream while it plays. `url` is its source and `named` what `conditions=` in its address says;
 * without both the change is for every player whose address names no conditions.
 */
export function changeConditions({ url, named, conditions }) {
    return request('PUT', '/api/conditions', { url, named, conditions });
}

export function stopDownload(id) {
    return request('DELETE', `/api/downloads/${encodeURIComponent(id)}`);
}

export function deleteAsset(id) {
    return request('DELETE', `/api/library/${encodeURIComponent(id)}`);
}

/** Where the playlist of a kept asset is. */
export function keptAddress(id) {
    return `/offline/${encodeURIComponent(id)}/multivariant.m3u8`;
}
